package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"open-cluster-management.io/interlock/test/benchmark/result"
	"open-cluster-management.io/interlock/test/benchmark/simulator"
)

const (
	// removalsPerReview is how many deletions arrive in the time of a review.
	removalsPerReview = 3
	removalsFor       = 5 * time.Second
	// answeredWithin is how long an API server waits for the webhook.
	answeredWithin = time.Second
	// mutating is how many requests that write an API server handles at a time, by default.
	mutating = 200
	// maxLate is how many may have no answer in time, in percent: the processors are shared with all other processes.
	maxLate = 0.1
)

// rated are the answers to requests that arrive at a rate.
type rated struct {
	mutex           sync.Mutex
	took            []float64 // in milliseconds
	late, unchecked int
}

// reviewAtRate has deletions of add-ons that no other requires, and then of those that others require, reviewed: so many arrive a second.
func (s *session) reviewAtRate(
	ctx context.Context, webhook *simulator.Webhook, required []simulator.Removal, rate int, found *result.Scenario,
) error {
	free, err := s.removalsOf(ctx, []string{simulator.Leaf})
	if err != nil {
		return err
	}
	found.Measure("deletions a second", "", float64(rate))
	for _, of := range []struct {
		name     string
		removals []simulator.Removal
	}{{"that none requires", free}, {"that others require", required}} {
		if err := s.settleDown(ctx); err != nil {
			return err
		}
		started := time.Now()
		all := s.sendAtRate(ctx, webhook, of.removals, rate)
		if err := ctx.Err(); err != nil {
			return err
		}
		took := time.Since(started).Seconds()
		sent := float64(len(all.took))
		title := fmt.Sprintf("%d deletions per review of add-ons %s: ", removalsPerReview, of.name)
		s.boundIfSmall(found, title+"without an answer within 1 s", 100*float64(all.late)/sent, maxLate)
		found.Measure(title+"answers that it was not checked", "%", 100*float64(all.unchecked)/sent)
		found.Measure(title+"answers a second", "", sent/took)
		found.Measure(title+"p99", "ms", result.Quantile(all.took, 0.99))
	}
	return nil
}

// boundIfSmall adds a share in percent that has its bound in fleets of up to 10,000 add-ons. The API server of a larger one
// needs most of two processors for itself.
func (s *session) boundIfSmall(found *result.Scenario, name string, percent, limit float64) {
	if s.installed() <= pluginFleet {
		found.Bound(name, "%", percent, result.NeverAbove, limit)
	} else {
		found.Measure(name, "%", percent)
	}
}

// sendAtRate sends requests at the rate, but no more at a time than an API server does: the others wait there. It waits for
// all answers.
func (s *session) sendAtRate(ctx context.Context, webhook *simulator.Webhook, removals []simulator.Removal, rate int) *rated {
	random := rand.New(rand.NewPCG(s.seed, 1))
	all, started := &rated{}, time.Now()
	var group errgroup.Group
	group.SetLimit(mutating)
	for i := range rate * int(removalsFor/time.Second) {
		removal := removals[random.IntN(len(removals))]
		if simulator.SleepUntil(ctx, started.Add(time.Duration(i)*time.Second/time.Duration(rate))) != nil {
			break
		}
		group.Go(func() error {
			all.add(ctx, webhook, removal)
			return nil
		})
	}
	_ = group.Wait() // none fails
	return all
}

// add sends one request. One that fails is late, too: the API server has no answer then.
func (r *rated) add(ctx context.Context, webhook *simulator.Webhook, removal simulator.Removal) {
	ctx, cancel := context.WithTimeout(ctx, 2*answeredWithin)
	defer cancel()
	started := time.Now()
	answer, err := webhook.Review(ctx, removal)
	took := time.Since(started)
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.took = append(r.took, float64(took.Microseconds())/1000)
	if err != nil || took > answeredWithin {
		r.late++
	} else if answer.Unchecked() {
		r.unchecked++
	}
}

// neededAddOns are those that others require.
func (s *session) neededAddOns() (needed []string) {
	for _, addOn := range s.fleet.AddOns {
		if len(s.requiring(addOn.Name)) > 0 {
			needed = append(needed, addOn.Name)
		}
	}
	return slices.Clip(needed)
}
