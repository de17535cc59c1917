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

// comparison holds one storm after the other, all of as many writes, against
// what a trivial client needs for them: half of the patches are made before a
// storm, half after it, and what comes after one comes before the next.
type comparison struct {
	session *session
	writes  int
	// half is how long the patches since the last storm took; zero before the first.
	half time.Duration
}

// storm measures the time from begin to the last expected condition. Nothing
// is measured while events of what was before are still being written.
func (c *comparison) storm(ctx context.Context, expected simulator.Expectation, begin func() error) (compared, error) {
	if c.half == 0 {
		if err := c.touch(ctx); err != nil {
			return compared{}, err
		}
	}
	before, measured := c.half, compared{began: time.Now()}
	if err := begin(); err != nil {
		return compared{}, err
	}
	var err error
	if measured.ended, err = c.session.observer.Await(ctx, expected, c.session.patience(c.writes)); err != nil {
		return compared{}, err
	}
	if err := c.touch(ctx); err != nil {
		return compared{}, err
	}
	measured.storm, measured.raw = measured.ended.Sub(measured.began), before+c.half
	return measured, c.session.calmDown(ctx)
}

// touch has the trivial client make half of the patches.
func (c *comparison) touch(ctx context.Context) (err error) {
	if err := c.session.calmDown(ctx); err != nil {
		return err
	}
	c.half, err = c.session.trivial.Touch(ctx, simulator.On(c.session.fleet.Clusters, simulator.Leaf), (c.writes+1)/2)
	return err
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
