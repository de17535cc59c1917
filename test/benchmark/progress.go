package main

import (
	"fmt"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"open-cluster-management.io/interlock/test/benchmark/result"
)

// progress shows the steps: with bars on a terminal, otherwise with a line for each step.
type progress struct {
	out      *os.File
	terminal bool
}

func newProgress(out *os.File) *progress {
	return &progress{out: out, terminal: term.IsTerminal(int(out.Fd()))}
}

func (p *progress) title(id, title string) {
	fmt.Fprintf(p.out, "\n%s  %s\n", id, title)
}

// step shows a step that takes a while. The caller calls the result at its end.
func (p *progress) step(title string) func() {
	_, finish := p.count(title, -1)
	return finish
}

// count shows a step of a known size. The caller calls tick for each unit, and finish at the end.
func (p *progress) count(title string, total int) (tick, finish func()) {
	started := time.Now()
	printTime := func() {
		fmt.Fprintf(p.out, "    %s: %s\n", title, time.Since(started).Round(100*time.Millisecond))
	}
	if !p.terminal {
		return func() {}, printTime
	}
	bar := progressbar.NewOptions(total, progressbar.OptionSetWriter(p.out), progressbar.OptionSetDescription("    "+title),
		progressbar.OptionShowCount(), progressbar.OptionClearOnFinish(), progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionSpinnerType(14), progressbar.OptionSetPredictTime(true), progressbar.OptionFullWidth())
	// A bar that cannot be drawn is not worth a failure.
	return func() { _ = bar.Add(1) }, func() { _ = bar.Clear(); printTime() }
}

// result prints the results of a scenario.
func (p *progress) result(scenario *result.Scenario) {
	for _, figure := range scenario.Figures {
		fmt.Fprintf(p.out, "  %-62s %-32s %-14s %s\n", figure.Name, figure.Spread(), figure.Bound(), figure.Verdict())
	}
	if scenario.Error != "" {
		fmt.Fprintf(p.out, "  FAILED: %s\n", scenario.Error)
	}
	fmt.Fprintf(p.out, "  took %s\n", scenario.Took.Round(time.Second))
}
