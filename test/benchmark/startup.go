package main

import (
	"context"
	"fmt"
	"time"

	"open-cluster-management.io/interlock/test/benchmark/result"
	"open-cluster-management.io/interlock/test/benchmark/simulator"
)

const (
	startUpMethod = `The time runs from the start of addon-manager until it is ready, has evaluated every add-on, and is idle. A second ` +
		`process only reads the same objects by streaming lists and decodes them into the same types. Its time runs from its ` +
		`start to its end. The API server collects its garbage before each of the two. The peak of addon-manager's memory is ` +
		`compared with its memory some seconds later. The bound on the ratio of the times counts for fleets of 100,000 add-ons ` +
		`or more.`
	startUpBound = 1.5
	peakBound    = 1.5
)

func startUp(ctx context.Context, s *session, results *result.Scenario) error {
	if err := s.grow(ctx, s.clusters); err != nil {
		return err
	}
	for range s.repetitions {
		if err := s.fleet.Hub.CollectGarbage(ctx); err != nil {
			return err
		}
		raw, err := s.streamingList(ctx)
		if err != nil {
			return err
		}
		if err := s.startUpOnce(ctx, raw, results); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) startUpOnce(ctx context.Context, raw time.Duration, results *result.Scenario) error {
	if err := s.fleet.Hub.CollectGarbage(ctx); err != nil {
		return err
	}
	if err := s.startManager(ctx, simulator.ManagerOptions{Name: "addon-manager"}); err != nil {
		return err
	}
	took := time.Since(s.manager.Started)
	if err := s.manager.AwaitReady(ctx); err != nil {
		return err
	}
	if err := pause(ctx, memoryLull); err != nil {
		return err
	}
	usage, err := simulator.UsageOf(s.manager.PID())
	if err != nil {
		return err
	}
	s.boundIfLarge(results, "time relative to a streaming list", took.Seconds()/raw.Seconds(), startUpBound)
	results.Measure(fmt.Sprintf("start to all of %d evaluated", s.installed()), "s", took.Seconds())
	results.Measure("streaming list", "s", raw.Seconds())
	results.Bound("peak over steady memory", "×", usage.Peak/usage.RSS, result.MedianAtMost, peakBound)
	results.Measure("peak memory", "MiB", usage.Peak)
	if err := s.profileHeap(ctx, "started"); err != nil {
		return err
	}
	return s.stopManager(ctx)
}
