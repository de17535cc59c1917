package main

import (
	"fmt"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"open-cluster-management.io/interlock/test/benchmark/result"
)

// progress tells what is going on: with bars on a terminal, else a line for
// each step.
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

// step tells of something that takes a while; the function it returns tells
// that it is done.
func (p *progress) step(what string) (done func()) {
	_, done = p.count(what, -1)
	return done
}

// count is step for something that can be counted: the first function it
// returns counts one.
func (p *progress) count(what string, total int) (one, done func()) {
	started := time.Now()
	tell := func() {
		fmt.Fprintf(p.out, "    %s: %s\n", what, time.Since(started).Round(100*time.Millisecond))
	}
	if !p.terminal {
		return func() {}, tell
	}
	bar := progressbar.NewOptions(total, progressbar.OptionSetWriter(p.out), progressbar.OptionSetDescription("    "+what),
		progressbar.OptionShowCount(), progressbar.OptionClearOnFinish(), progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionSpinnerType(14), progressbar.OptionSetPredictTime(true), progressbar.OptionFullWidth())
	// A bar that cannot be drawn is not worth a failure.
	return func() { _ = bar.Add(1) }, func() { _ = bar.Clear(); tell() }
}

// result prints what a scenario has found.
func (p *progress) result(found *result.Scenario) {
	for _, figure := range found.Figures {
		fmt.Fprintf(p.out, "  %-62s %-32s %-14s %s\n", figure.Name, figure.Spread(), figure.Bound(), figure.Verdict())
	}
	if found.Error != "" {
		fmt.Fprintf(p.out, "  FAILED: %s\n", found.Error)
	}
	fmt.Fprintf(p.out, "  took %s\n", found.Took.Round(time.Second))
}
