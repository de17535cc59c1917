package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"open-cluster-management.io/interlock/test/benchmark/result"
)

var errMissed = errors.New("bounds were missed")

// run plays the selected scenarios, writes their results, and fails when a bound
// is missed.
func run(ctx context.Context, o options) (err error) {
	machine := result.ThisMachine()
	if err := limitMemory(machine); err != nil {
		return err
	}
	s, err := newSession(o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close(err)) }()

	report := &result.Report{
		Machine: machine, Command: commandLine(), Started: time.Now(),
		Settings: []result.Setting{
			{Name: "Fleet", Value: fmt.Sprintf("%d managed clusters with %d add-ons each", o.clusters, o.addOns)},
			{Name: "Repetitions", Value: strconv.Itoa(o.repetitions)},
			{Name: "Seed", Value: strconv.FormatUint(o.seed, 10)},
		},
	}
	for _, scenario := range scenarios { // if the run is interrupted, the results so far are kept
		if !o.selected(scenario) {
			continue
		}
		if err := s.enter(ctx, scenario.stage); err != nil {
			return err
		}
		results := s.play(ctx, scenario)
		if ctx.Err() != nil {
			return errors.Join(fmt.Errorf("scenario %s and what follows it were not measured: %w", scenario.id, ctx.Err()), write(report, o))
		}
		report.Scenarios = append(report.Scenarios, results)
	}
	return finish(report, o)
}

// commandLine returns the command that repeats the run, from the repository's top folder.
func commandLine() string {
	return strings.Join(append([]string{"go run -C test/benchmark ."}, os.Args[1:]...), " ")
}

// play runs one scenario. If it fails, the others still run.
func (s *session) play(ctx context.Context, scenario scenario) *result.Scenario {
	results := &result.Scenario{ID: scenario.id, Title: scenario.title, Method: scenario.method}
	s.progress.title(scenario.id, scenario.title)
	started := time.Now()
	if repetitions := s.repetitions; scenario.single {
		s.repetitions = 1
		defer func() { s.repetitions = repetitions }()
	}
	if err := scenario.run(ctx, s, results); err != nil {
		results.Error = err.Error()
	}
	results.Took = time.Since(started)
	s.progress.result(results)
	return results
}

// write writes the report.
func write(report *result.Report, o options) error {
	report.Took = time.Since(report.Started)
	slices.SortStableFunc(report.Scenarios, func(a, b *result.Scenario) int { return number(a.ID) - number(b.ID) })
	if err := report.Write(o.out, o.name); err != nil {
		return err
	}
	fmt.Printf("\nTook %s. The figures are in %s/%s.*\n", report.Took.Round(time.Second), o.out, o.name)
	return nil
}

// finish writes the report, and returns an error that lists the missed bounds.
func finish(report *result.Report, o options) error {
	if err := write(report, o); err != nil {
		return err
	}
	missed := report.Missed()
	if len(missed) == 0 {
		fmt.Println("All bounds hold.")
		return nil
	}
	return fmt.Errorf("%w:\n  %s", errMissed, strings.Join(missed, "\n  "))
}

// number returns the position of a scenario in the table.
func number(id string) int {
	row, err := strconv.Atoi(strings.TrimRight(id, "abc"))
	if err != nil {
		return len(scenarios) + 1
	}
	return row
}

// limitMemory makes started processes collect their garbage before they use more than half of the machine's memory.
// Without the limit, the API server of 100,000 add-ons would use most of 24 GiB. The other processes need far less.
func limitMemory(machine result.Machine) error {
	if os.Getenv("GOMEMLIMIT") != "" || machine.MemoryGiB < 2 {
		return nil
	}
	return os.Setenv("GOMEMLIMIT", fmt.Sprintf("%dGiB", machine.MemoryGiB/2))
}
