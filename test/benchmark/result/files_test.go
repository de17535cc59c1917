package result

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "figures")
	report := exampleReport()
	if err := report.Write(dir, "standard"); err != nil {
		t.Fatal(err)
	}
	read, err := Read(dir, "standard")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(report, read); diff != "" {
		t.Errorf("not what was written: %s", diff)
	}
	if names, err := Names(dir); err != nil || !cmp.Equal(names, []string{"standard"}) {
		t.Errorf("names: %v %v", names, err)
	}
	for _, file := range []string{"standard.md", "standard-growth.svg"} {
		if _, err := os.Stat(filepath.Join(dir, file)); err != nil {
			t.Error(err)
		}
	}
}

func TestInfinityIsWritten(t *testing.T) {
	report := &Report{Scenarios: []*Scenario{{ID: "1"}}}
	report.Scenarios[0].Bound("ratio", "×", Ratio(1, 0), MedianAtMost, 1)
	if err := report.Write(t.TempDir(), "x"); err != nil {
		t.Error(err)
	}
}

func TestDocument(t *testing.T) {
	dir := t.TempDir()
	figures, document := filepath.Join(dir, "figures"), filepath.Join(dir, "docs", "performance.md")
	if err := WriteDocument(figures, document); err == nil || !strings.Contains(err.Error(), "run the benchmark first") {
		t.Errorf("without figures: %v", err)
	}
	for _, name := range []string{"standard", "large"} {
		if err := exampleReport().Write(figures, name); err != nil {
			t.Fatal(err)
		}
	}
	if err := WriteDocument(figures, document); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{
		"## The large run", "## The standard run", "| 1 | An outage | ratio |", "![Over the size](performance/large-growth.svg)",
		"- **1. An outage.** It is compared.", "A processor, 2 cores",
	} {
		if !strings.Contains(string(text), part) {
			t.Errorf("it lacks %q", part)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "docs", "performance", "standard-growth.svg")); err != nil {
		t.Error(err)
	}
}
