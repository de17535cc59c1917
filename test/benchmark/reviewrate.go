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
	// maxMutating is the default number of write requests that an API server handles at a time.
	maxMutating = 200
	// maxLate is the maximum share of requests without an answer in time, in percent. It is not zero, because the
	// processors are shared with all other processes.
	maxLate = 0.1
)

// rateResults are the results of requests that arrive at a fixed rate.
type rateResults struct {
	mutex           sync.Mutex
	took            []float64 // in milliseconds
	late, unchecked int
}

// reviewAtRate requests reviews at a fixed rate: first of deletions of add-ons that no other requires, then of
// add-ons that others require.
func (s *session) reviewAtRate(
	ctx context.Context, webhook *simulator.Webhook, required []simulator.Removal, rate int, results *result.Scenario,
) error {
	free, err := s.removalsOf(ctx, []string{simulator.Leaf})
	if err != nil {
		return err
	}
	results.Measure("deletions a second", "", float64(rate))
	for _, load := range []struct {
		name     string
		removals []simulator.Removal
	}{{"that none requires", free}, {"that others require", required}} {
		if err := s.settleDown(ctx); err != nil {
			return err
		}
		started := time.Now()
		answers := s.sendAtRate(ctx, webhook, load.removals, rate)
		if err := ctx.Err(); err != nil {
			return err
		}
		took := time.Since(started).Seconds()
		sent := float64(len(answers.took))
		title := fmt.Sprintf("%d deletions per review of add-ons %s: ", removalsPerReview, load.name)
		s.boundIfSmall(results, title+"without an answer within 1 s", 100*float64(answers.late)/sent, maxLate)
		results.Measure(title+"answers that it was not checked", "%", 100*float64(answers.unchecked)/sent)
		results.Measure(title+"answers a second", "", sent/took)
		results.Measure(title+"p99", "ms", result.Quantile(answers.took, 0.99))
	}
	return nil
}

// boundIfSmall adds a share in percent. It has a bound only in fleets of up to 10,000 add-ons, because the API server
// of a larger fleet needs most of two processors for itself.
func (s *session) boundIfSmall(results *result.Scenario, name string, percent, limit float64) {
	if s.installed() <= pluginFleet {
		results.Bound(name, "%", percent, result.NeverAbove, limit)
	} else {
		results.Measure(name, "%", percent)
	}
}

// sendAtRate sends requests at the rate, but no more at a time than an API server does. The others wait. sendAtRate
// waits for all answers.
func (s *session) sendAtRate(ctx context.Context, webhook *simulator.Webhook, removals []simulator.Removal, rate int) *rateResults {
	random := rand.New(rand.NewPCG(s.seed, 1))
	results, started := &rateResults{}, time.Now()
	var group errgroup.Group
	group.SetLimit(maxMutating)
	for i := range rate * int(removalsFor/time.Second) {
		removal := removals[random.IntN(len(removals))]
		if simulator.SleepUntil(ctx, started.Add(time.Duration(i)*time.Second/time.Duration(rate))) != nil {
			break
		}
		group.Go(func() error {
			results.add(ctx, webhook, removal)
			return nil
		})
	}
	_ = group.Wait() // none fails
	return results
}

// add sends one request. A failed request counts as late, because the API server has no answer then.
func (r *rateResults) add(ctx context.Context, webhook *simulator.Webhook, removal simulator.Removal) {
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

// neededAddOns returns the add-ons that others require.
func (s *session) neededAddOns() []string {
	var needed []string
	for _, addOn := range s.fleet.AddOns {
		if len(s.requiring(addOn.Name)) > 0 {
			needed = append(needed, addOn.Name)
		}
	}
	return slices.Clip(needed)
}
