package main

import (
	"context"
	"fmt"
	"time"

	"open-cluster-management.io/interlock/test/benchmark/result"
	"open-cluster-management.io/interlock/test/benchmark/simulator"
)

const (
	memoryMethod = `The fleet grows. At each size, addon-manager starts, evaluates every add-on, and is then idle for some seconds. A ` +
		`second process only holds the same objects, in a plain cache of controller-runtime. The resident memory of both is ` +
		`measured. The bound on their ratio counts for fleets of 100,000 add-ons or more.`
	memoryBound = 250.0
	plainBound  = 1.0 / 3
	memoryLull  = 3 * time.Second
	// largeFleet is from how many add-ons on memory and start are held against
	// those of other processes: before, all of them are little more than a Go
	// program that has just started.
	largeFleet = 100_000
)

// boundIfLarge adds a figure that has its bound in a large fleet only.
func (s *session) boundIfLarge(found *result.Scenario, name string, ratio, limit float64) {
	if s.installed() >= largeFleet {
		found.Bound(name, "×", ratio, result.MedianAtMost, limit)
	} else {
		found.Measure(name, "×", ratio)
	}
}

func memory(ctx context.Context, s *session, found *result.Scenario) error {
	chart := result.Chart{
		Name: "memory", Title: "Resident memory over the size of the fleet", X: "ManagedClusterAddOns", Y: "MiB",
		Lines: []result.Line{{Name: "addon-manager"}, {Name: "plain controller-runtime cache"}},
	}
	for _, tenths := range []int{0, 5} {
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
		s.boundIfLarge(found, "relative to a plain cache", manager/plain, plainBound)
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
