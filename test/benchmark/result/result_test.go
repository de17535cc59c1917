package result

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestHolds(t *testing.T) {
	for _, c := range []struct {
		name   string
		figure Figure
		want   bool
	}{
		{"no limit", Figure{Values: []float64{9}}, true},
		{"median at the limit", Figure{Values: []float64{1, 2, 9}, Rule: MedianAtMost, Limit: 2}, true},
		{"median above", Figure{Values: []float64{1, 3, 3}, Rule: MedianAtMost, Limit: 2}, false},
		{"median at least, reached", Figure{Values: []float64{1, 3, 3}, Rule: MedianAtLeast, Limit: 3}, true},
		{"median at least, not reached", Figure{Values: []float64{1, 2, 3}, Rule: MedianAtLeast, Limit: 3}, false},
		{"never above, and never was", Figure{Values: []float64{0, 0}, Rule: NeverAbove}, true},
		{"never above, and once was", Figure{Values: []float64{0, 0, 1}, Rule: NeverAbove}, false},
		{"nothing measured shows nothing", Figure{Rule: MedianAtMost, Limit: 1}, false},
		{"an unknown rule", Figure{Values: []float64{0}, Rule: "whatever"}, false},
	} {
		if got := c.figure.Holds(); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestSpread(t *testing.T) {
	for _, c := range []struct {
		unit   string
		values []float64
		want   string
	}{
		{"", nil, "not measured"},
		{"×", []float64{1.1}, "1.10×"},
		{"×", []float64{1.2, 1.1, 1.4}, "1.20× (1.10 to 1.40)"},
		{"MiB", []float64{150.4, 149.6}, "150 MiB"},
		{"ms", []float64{12.34}, "12.3 ms"},
		{"", []float64{2, 2, 2}, "2"},
		{"", []float64{2, 2, 2.001}, "2.00"},
		{"", []float64{4124725}, "4,124,725"},
		{"", []float64{0}, "0"},
		{"", []float64{-1234}, "-1,234"},
		{"s", []float64{0.0123}, "0.012 s"},
		{"×", []float64{Ratio(1, 0)}, "∞×"},
	} {
		scenario := Scenario{}
		figure := &Figure{}
		for _, value := range c.values {
			scenario.Measure("x", c.unit, value)
			figure = scenario.Figures[0]
		}
		if got := figure.Spread(); got != c.want {
			t.Errorf("%v: %q, want %q", c.values, got, c.want)
		}
	}
}

func exampleReport() *Report {
	good := &Scenario{ID: "1", Title: "An outage", Method: "It is compared."}
	good.Bound("ratio", "×", 1.1, MedianAtMost, 1.25)
	good.Bound("ratio", "×", 1.3, MedianAtMost, 1.25)
	good.Measure("time", "s", 2.5)
	good.Charts = []Chart{{Name: "growth", Title: "Over the size", X: "clusters", Y: "seconds", Lines: []Line{
		{Name: "Interlock", Points: [][2]float64{{10, 1}, {100, 9}}},
	}}}
	bad := &Scenario{ID: "6", Title: "Quiet | loud"}
	bad.Bound("writes", "", 3, NeverAbove, 0)
	failed := &Scenario{ID: "7", Title: "Broken", Error: "it\nbroke"}
	return &Report{
		Machine: Machine{Processor: "A processor", Cores: 2, MemoryGiB: 8, Kernel: "6.1", Go: "go1.25", Load: 0.5},
		Command: "go run -C test/benchmark .", Started: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Took: 90 * time.Second,
		Settings: []Setting{{Name: "Seed", Value: "1"}}, Scenarios: []*Scenario{good, bad, failed},
	}
}

func TestMissed(t *testing.T) {
	want := []string{"scenario 6: writes is 3, bound: ≤ 0", "scenario 7 failed: it\nbroke"}
	if diff := cmp.Diff(want, exampleReport().Missed()); diff != "" {
		t.Error(diff)
	}
}

func TestMarkdown(t *testing.T) {
	want := `| # | Scenario | Figure | Measured | Bound | |
|---|---|---|---|---|---|
| 1 | An outage | ratio | 1.20× (1.10 to 1.30) | ≤ 1.25× | holds |
|  |  | time | 2.50 s |  |  |
| 6 | Quiet \| loud | writes | 3 | ≤ 0 | MISSED |
| 7 | Broken | | failed: it broke | | MISSED |
`
	if diff := cmp.Diff(want, exampleReport().Markdown()); diff != "" {
		t.Error(diff)
	}
}

func TestConditions(t *testing.T) {
	want := "- Command: `go run -C test/benchmark .`\n" + `- Started 2026-01-02 03:04 UTC, took 1m30s
- Machine: A processor, 2 cores, 8 GiB, Linux 6.1, go1.25; load average at the start 0.5
- Seed: 1
`
	if diff := cmp.Diff(want, exampleReport().Conditions()); diff != "" {
		t.Error(diff)
	}
}

func TestChartsAreTheSameForTheSameFigures(t *testing.T) {
	chart := exampleReport().Scenarios[0].Charts[0]
	first, err := chart.SVG()
	if err != nil {
		t.Fatal(err)
	}
	second, err := chart.SVG()
	if err != nil {
		t.Fatal(err)
	}
	if string(first) != string(second) {
		t.Error("drawn twice, it is not the same")
	}
	for _, text := range []string{"<svg", "Over the size", "clusters", "seconds", "Interlock", "sans-serif"} {
		if !strings.Contains(string(first), text) {
			t.Errorf("it does not show %q", text)
		}
	}
}

func TestThisMachine(t *testing.T) {
	if machine := ThisMachine(); machine.Cores < 1 || machine.Go == "" || machine.Processor == "" {
		t.Errorf("%+v", machine)
	}
}
