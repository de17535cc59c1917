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
	// largeFleet is the number of add-ons from which memory and start are compared with other processes. In smaller
	// fleets, all of them use little more than a Go program that has just started.
	largeFleet = 100_000
)

// boundIfLarge adds a figure that has a bound only in a large fleet.
func (s *session) boundIfLarge(results *result.Scenario, name string, ratio, limit float64) {
	if s.installed() >= largeFleet {
		results.Bound(name, "×", ratio, result.MedianAtMost, limit)
	} else {
		results.Measure(name, "×", ratio)
	}
}

func memory(ctx context.Context, s *session, results *result.Scenario) error {
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
		results.Bound(fmt.Sprintf("resident memory with %d MCAs", s.installed()), "MiB", manager, result.NeverAbove, memoryBound)
		results.Measure("plain cache", "MiB", plain)
		s.boundIfLarge(results, "relative to a plain cache", manager/plain, plainBound)
	}
	results.Charts = append(results.Charts, chart)
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
		chart.Lines[i].Points = append(chart.Lines[i].Points, [2]float64{float64(s.installed()), resident})
	}
	return usage.RSS, plain, s.stopManager(ctx)
}
