package main

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"open-cluster-management.io/interlock/test/benchmark/result"
	"open-cluster-management.io/interlock/test/benchmark/simulator"
)

// stormBound holds for everything that is nothing but a number of writes.
const stormBound = 1.25

// calmFor is how long nobody may have written before something is measured.
const calmFor = time.Second

// storm is a change of the fleet, and the conditions that must come of it.
type storm struct {
	name     string
	expected simulator.Expectation
	begin    func() error
}

// compared is a storm and what it is held against.
type compared struct {
	storm, raw time.Duration
	began      time.Time
}

// compare plays two storms, and holds both against as many patches by a trivial
// client between them.
func (s *session) compare(ctx context.Context, writes int, first, second storm) (played [2]compared, err error) {
	if played[0], err = s.weather(ctx, writes, first); err != nil {
		return played, err
	}
	if err := s.settleDown(ctx); err != nil {
		return played, err
	}
	raw, err := s.trivial.Touch(ctx, simulator.On(s.fleet.Clusters, simulator.Leaf), writes)
	if err != nil {
		return played, err
	}
	if played[1], err = s.weather(ctx, writes, second); err != nil {
		return played, err
	}
	played[0].raw, played[1].raw = raw, raw
	return played, nil
}

// weather plays a storm until all is as it must be.
func (s *session) weather(ctx context.Context, writes int, storm storm) (compared, error) {
	if err := s.settleDown(ctx); err != nil {
		return compared{}, err
	}
	began := time.Now()
	if err := storm.begin(); err != nil {
		return compared{}, err
	}
	ended, err := s.observer.Await(ctx, storm.expected, s.patience(writes))
	if err != nil {
		return compared{}, fmt.Errorf("%s: %w", storm.name, err)
	}
	return compared{storm: ended.Sub(began), began: began}, nil
}

// settleDown brings about the same start for whatever is measured next: events
// of what was before are written, and the API server has next to no garbage. Its
// heap is of gigabytes; to collect that takes it seconds, in which it does half
// as much.
// On whom that falls would otherwise depend on nothing but the moment, and with
// storms and patches in turns be always the same.
func (s *session) settleDown(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return s.calmDown(ctx) })
	group.Go(func() error { return s.fleet.Hub.CollectGarbage(ctx) })
	return group.Wait()
}

// calmDown waits until Interlock has written nothing, not even an event, for a
// while.
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

// tell adds the comparison to what was found.
func (c compared) tell(found *result.Scenario, what string, writes int) {
	found.Bound(what+": time over that of as many patches", "×", c.storm.Seconds()/c.raw.Seconds(), result.MedianAtMost, stormBound)
	found.Measure(what+": time", "s", c.storm.Seconds())
	found.Measure(fmt.Sprintf("%d patches by a trivial client", writes), "s", c.raw.Seconds())
}
