package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/webhook/protector"
	"open-cluster-management.io/interlock/test/benchmark/result"
	"open-cluster-management.io/interlock/test/benchmark/simulator"
)

const (
	reviewsFor = 10 * time.Second
	// preparedRemovals is the number of requests that are prepared before the measurement.
	preparedRemovals = 2000
)

// reviewResults are the results of many requests for reviews.
type reviewResults struct {
	// took has the time of each review in milliseconds.
	took      []float64
	unchecked int
}

// removalsOf returns requests to delete add-ons of these names, on random clusters.
func (s *session) removalsOf(ctx context.Context, names []string) ([]simulator.Removal, error) {
	var installed []*addonv1alpha1.ManagedClusterAddOn
	for _, name := range names {
		// The API server sends the whole stored object. Between clusters, it differs only in the names.
		stored := &addonv1alpha1.ManagedClusterAddOn{}
		if err := s.fleet.Hub.Client.Get(ctx, client.ObjectKey{Namespace: s.fleet.Clusters[0], Name: name}, stored); err != nil {
			return nil, err
		}
		installed = append(installed, stored)
	}
	random := rand.New(rand.NewPCG(s.seed, 0))
	removals := make([]simulator.Removal, preparedRemovals)
	for i := range removals {
		addOn := installed[random.IntN(len(installed))]
		addOn.Namespace = s.fleet.Clusters[random.IntN(len(s.fleet.Clusters))]
		var err error
		if removals[i], err = s.fleet.Hub.NewRemoval(protector.Path, addOn); err != nil {
			return nil, err
		}
	}
	return removals, nil
}

// reviewMany lets all clients request reviews of removals at the same time, and adds the figures.
func (s *session) reviewMany(
	ctx context.Context, webhook *simulator.Webhook, removals []simulator.Removal, results *result.Scenario,
) (float64, error) {
	if err := s.settleDown(ctx); err != nil {
		return 0, err
	}
	before, err := s.meterReviews(ctx, webhook)
	if err != nil {
		return 0, err
	}
	reviews, took, err := s.reviewFor(ctx, webhook, removals)
	if err != nil {
		return 0, err
	}
	after, err := s.meterReviews(ctx, webhook)
	if err != nil {
		return 0, err
	}
	answered := float64(len(reviews.took))
	reads := after.requests.Since(before.requests).Reads(simulator.WebhookUser, append(simulator.AllResources, "addondependencypolicies")...)
	reviewsPerSecond := (answered - float64(reviews.unchecked)) / took.Seconds()
	results.Measure("reviews of MCAs per second", "", reviewsPerSecond)
	s.boundIfSmall(results, "answers that an MCA was not checked", 100*float64(reviews.unchecked)/answered, 1)
	results.Measure("review of an MCA: p50", "ms", result.Median(reviews.took))
	results.Measure("review of an MCA: p99", "ms", result.Quantile(reviews.took, 0.99))
	results.Measure("reads of the API server per review of an MCA", "", float64(reads)/answered)
	results.Measure("processor time of the API server per review of an MCA", "ms", 1000*(after.server-before.server).Seconds()/answered)
	results.Measure("processor time of the webhook per review of an MCA", "ms", 1000*(after.webhook-before.webhook).Seconds()/answered)
	return reviewsPerSecond, nil
}

// reviewReading is a reading of a webhook's meters at one moment.
type reviewReading struct {
	requests        simulator.Counts
	server, webhook time.Duration
}

func (s *session) meterReviews(ctx context.Context, webhook *simulator.Webhook) (reviewReading, error) {
	requests, err := s.fleet.Hub.Requests.Count()
	if err != nil {
		return reviewReading{}, err
	}
	server, err := s.fleet.Hub.CPU(ctx)
	if err != nil {
		return reviewReading{}, err
	}
	usage, err := simulator.UsageOf(webhook.PID())
	return reviewReading{requests: requests, server: server, webhook: usage.CPU}, err
}

// reviewFor returns the results of all clients, and the time until the last answer.
func (s *session) reviewFor(
	ctx context.Context, webhook *simulator.Webhook, removals []simulator.Removal,
) (reviewResults, time.Duration, error) {
	clients := make([]reviewResults, simulator.Reviewers)
	group, ctx := errgroup.WithContext(ctx)
	started := time.Now()
	for i := range clients {
		random := rand.New(rand.NewPCG(s.seed, uint64(i)))
		group.Go(func() error {
			for time.Since(started) < reviewsFor {
				if err := clients[i].add(ctx, webhook, removals[random.IntN(len(removals))]); err != nil {
					return err
				}
			}
			return nil
		})
	}
	err := group.Wait()
	took := time.Since(started)
	var reviews reviewResults
	for _, client := range clients {
		reviews.took = slices.Concat(reviews.took, client.took)
		reviews.unchecked += client.unchecked
	}
	return reviews, took, err
}

// add requests one review. An answer that lets the deletion pass is an error, unless it says that the deletion was
// not checked.
func (r *reviewResults) add(ctx context.Context, webhook *simulator.Webhook, removal simulator.Removal) error {
	started := time.Now()
	answer, err := webhook.Review(ctx, removal)
	if err != nil {
		return err
	}
	switch {
	case answer.Unchecked():
		r.unchecked++
	case !answer.Refused:
		return fmt.Errorf("the deletion of an add-on that others require was not refused: %q", answer.Message)
	}
	r.took = append(r.took, float64(time.Since(started).Microseconds())/1000)
	return nil
}
