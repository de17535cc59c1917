package main

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"open-cluster-management.io/interlock/test/benchmark/result"
	"open-cluster-management.io/interlock/test/benchmark/simulator"
)

// The bounds of scenarios that consist only of writes.
const (
	stormBound = 1.25
	// declarationBound is the bound for a declaration that changes, while no agent runs.
	declarationBound = 1.1
)

// calmFor is how long no component may have written before a measurement begins.
const calmFor = time.Second

// storm is a change of the fleet, and the conditions that must follow.
type storm struct {
	name     string
	expected simulator.Expectation
	begin    func() error
}

// comparison is the time of a storm, and the time of the same number of patches.
type comparison struct {
	storm, raw time.Duration
	began      time.Time
}

// compare plays two storms, and compares both with the same number of patches by a trivial client between them.
func (s *session) compare(ctx context.Context, writes int, first, second storm) ([2]comparison, error) {
	var comparisons [2]comparison
	var err error
	if comparisons[0], err = s.await(ctx, writes, first); err != nil {
		return comparisons, err
	}
	if err := s.settleDown(ctx); err != nil {
		return comparisons, err
	}
	raw, err := s.trivial.Touch(ctx, simulator.KeysOn(s.fleet.Clusters, simulator.Leaf), writes)
	if err != nil {
		return comparisons, err
	}
	if comparisons[1], err = s.await(ctx, writes, second); err != nil {
		return comparisons, err
	}
	comparisons[0].raw, comparisons[1].raw = raw, raw
	return comparisons, nil
}

// await plays a storm until all expected conditions have followed.
func (s *session) await(ctx context.Context, writes int, storm storm) (comparison, error) {
	if err := s.settleDown(ctx); err != nil {
		return comparison{}, err
	}
	began := time.Now()
	if err := storm.begin(); err != nil {
		return comparison{}, err
	}
	ended, err := s.observer.Await(ctx, storm.expected, s.patience(writes))
	if err != nil {
		return comparison{}, fmt.Errorf("%s: %w", storm.name, err)
	}
	return comparison{storm: ended.Sub(began), began: began}, nil
}

// settleDown gives each measurement the same start: earlier events are written, and the API server has almost no
// garbage. Its heap has gigabytes. To collect it takes seconds, in which the API server does half as much. Without
// settleDown, the collection would always slow down the same measurement, because storms and patches alternate.
func (s *session) settleDown(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return s.calmDown(ctx) })
	group.Go(func() error { return s.fleet.Hub.CollectGarbage(ctx) })
	return group.Wait()
}

// calmDown waits until Interlock has written nothing for a while, not even an event.
func (s *session) calmDown(ctx context.Context) error {
	last := -1
	for {
		counts, err := s.fleet.Hub.Requests.Count()
		if err != nil {
			return err
		}
		writes := 0
		for _, user := range []string{simulator.ManagerUser, simulator.AgentUser} {
			writes += counts.Writes(user, simulator.AllResources...)
		}
		if writes == last {
			return nil
		}
		last = writes
		if err := pause(ctx, calmFor); err != nil {
			return err
		}
	}
}

// addTo adds the comparison to the results.
func (c comparison) addTo(results *result.Scenario, name string, writes int, bound float64) {
	results.Bound(name+": time relative to as many patches", "×", c.storm.Seconds()/c.raw.Seconds(), result.MedianAtMost, bound)
	results.Measure(name+": time", "s", c.storm.Seconds())
	results.Measure(fmt.Sprintf("%d patches by a trivial client", writes), "s", c.raw.Seconds())
}
