package main

import (
	"context"
	"fmt"
	"time"

	"open-cluster-management.io/interlock/test/benchmark/result"
	"open-cluster-management.io/interlock/test/benchmark/simulator"
)

// stormBound holds for everything that is nothing but a number of writes.
const stormBound = 1.25

// calmFor is how long nobody may have written before something is measured.
const calmFor = time.Second

// compared is a storm and what it is held against.
type compared struct {
	storm, raw   time.Duration
	began, ended time.Time
}

// compareWithPatches measures the time from begin to the last expected
// condition, and next to it the time in which a trivial client makes as many
// status patches: half of them before, half after. Nothing is measured while
// events of what was before are still being written.
func (s *session) compareWithPatches(ctx context.Context, writes int, expected simulator.Expectation, begin func() error) (compared, error) {
	touched := simulator.On(s.fleet.Clusters, simulator.Leaf)
	before, err := s.touch(ctx, touched, writes/2)
	if err != nil {
		return compared{}, err
	}
	c := compared{began: time.Now()}
	if err := begin(); err != nil {
		return compared{}, err
	}
	if c.ended, err = s.observer.Await(ctx, expected, s.patience(writes)); err != nil {
		return compared{}, err
	}
	after, err := s.touch(ctx, touched, writes-writes/2)
	if err != nil {
		return compared{}, err
	}
	c.storm, c.raw = c.ended.Sub(c.began), before+after
	return c, s.calmDown(ctx)
}

func (s *session) touch(ctx context.Context, touched []simulator.Key, patches int) (time.Duration, error) {
	if err := s.calmDown(ctx); err != nil {
		return 0, err
	}
	return s.trivial.Touch(ctx, touched, patches)
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
