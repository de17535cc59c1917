package main

import (
	"context"
	"fmt"
	"time"

	"open-cluster-management.io/interlock/test/benchmark/result"
	"open-cluster-management.io/interlock/test/benchmark/simulator"
)

const (
	memoryMethod = `The fleet grows. At each size addon-manager is started, evaluates all, and is left alone for some seconds; so is a process that does nothing ` +
		`but hold the same objects in a plain cache of controller-runtime. Measured is the resident memory of both.`
	memoryBound = 250.0
	// plainBound is for large fleets: in a small one both processes are little
	// more than a Go program that has just started.
	plainBound     = 1.0 / 3
	plainBoundFrom = 100_000
	memoryLull     = 5 * time.Second
)

func memory(ctx context.Context, s *session, found *result.Scenario) error {
	chart := result.Chart{
		Name: "memory", Title: "Resident memory over the size of the fleet", X: "ManagedClusterAddOns", Y: "MiB",
		Lines: []result.Line{{Name: "addon-manager"}, {Name: "plain controller-runtime cache"}},
	}
	for _, tenths := range []int{0, 3, 6} {
		if err := s.grow(ctx, s.clusters*tenths/10); err != nil {
			return err
		}
		if _, _, err := s.memoryOnce(ctx, &chart); err != nil {
			return err
		}
	}
	if err := s.grow(ctx, s.clusters); err != nil {
		return err
	}
	for range s.repetitions {
		manager, plain, err := s.memoryOnce(ctx, &chart)
		if err != nil {
			return err
		}
		found.Bound(fmt.Sprintf("resident memory with %d MCAs", s.installed()), "MiB", manager, result.NeverAbove, memoryBound)
		found.Measure("plain cache", "MiB", plain)
		if s.installed() >= plainBoundFrom {
			found.Bound("over that of a plain cache", "×", manager/plain, result.MedianAtMost, plainBound)
		} else {
			found.Measure("over that of a plain cache", "×", manager/plain)
		}
	}
	found.Charts = append(found.Charts, chart)
	return nil
}

func (s *session) memoryOnce(ctx context.Context, chart *result.Chart) (manager, plain float64, err error) {
	if plain, err = s.plainCache(ctx); err != nil {
		return 0, 0, err
	}
	if err := s.startManager(ctx, simulator.ManagerOptions{Name: "addon-manager"}); err != nil {
		return 0, 0, err
	}
	if err := pause(ctx, memoryLull); err != nil {
		return 0, 0, err
	}
	usage, err := simulator.UsageOf(s.manager.PID())
	if err != nil {
		return 0, 0, err
	}
	for i, resident := range []float64{usage.RSS, plain} {
		chart.Lines[i].At = append(chart.Lines[i].At, [2]float64{float64(s.installed()), resident})
	}
	return usage.RSS, plain, s.stopManager(ctx)
}
