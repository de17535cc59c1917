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
	storm, raw   time.Duration
	began, ended time.Time
}

// comparison holds storms, all of as many writes, against what a trivial client
// needs for them.
type comparison struct {
	session *session
	writes  int
	// raw is how long the patches since the last storm took; zero before the first.
	raw time.Duration
}

// play plays storms one after the other, and holds each against the mean of as
// many patches before the first and after the last of them.
func (c *comparison) play(ctx context.Context, storms ...storm) ([]compared, error) {
	if c.raw == 0 {
		if err := c.touch(ctx); err != nil {
			return nil, err
		}
	}
	before, played := c.raw, make([]compared, len(storms))
	for i, storm := range storms {
		if err := c.session.settleDown(ctx); err != nil {
			return nil, err
		}
		played[i].began = time.Now()
		if err := storm.begin(); err != nil {
			return nil, err
		}
		var err error
		if played[i].ended, err = c.session.observer.Await(ctx, storm.expected, c.session.patience(c.writes)); err != nil {
			return nil, fmt.Errorf("%s: %w", storm.name, err)
		}
		played[i].storm = played[i].ended.Sub(played[i].began)
	}
	if err := c.touch(ctx); err != nil {
		return nil, err
	}
	for i := range played {
		played[i].raw = (before + c.raw) / 2
	}
	return played, nil
}

// touch has the trivial client make the patches.
func (c *comparison) touch(ctx context.Context) (err error) {
	if err := c.session.settleDown(ctx); err != nil {
		return err
	}
	c.raw, err = c.session.trivial.Touch(ctx, simulator.On(c.session.fleet.Clusters, simulator.Leaf), c.writes)
	return err
}

// settleDown brings about the same start for whatever is measured next: events
// of what was before are written, and the API server has next to no garbage. Its heap is
// of gigabytes; to collect that takes it seconds, in which it does half as much.
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
