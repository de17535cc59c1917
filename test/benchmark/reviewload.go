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
	"open-cluster-management.io/interlock/pkg/webhook/protection"
	"open-cluster-management.io/interlock/test/benchmark/result"
	"open-cluster-management.io/interlock/test/benchmark/simulator"
)

const (
	reviewsFor = 10 * time.Second
	// preparedRemovals is how many requests are made before, so that to make them takes no time of the measurement.
	preparedRemovals = 2000
)

// reviewed are the answers to many requests for reviews.
type reviewed struct {
	// took has the time of each in milliseconds.
	took      []float64
	unchecked int
}

// removalsOf are requests to delete add-ons of these names, on random clusters.
func (s *session) removalsOf(ctx context.Context, names []string) ([]simulator.Removal, error) {
	var installed []*addonv1alpha1.ManagedClusterAddOn
	for _, name := range names {
		// What the API server sends is all that is stored. It differs between clusters only in the names.
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
		if removals[i], err = s.fleet.Hub.NewRemoval(protection.Path, addOn); err != nil {
			return nil, err
		}
	}
	return removals, nil
}

// reviewMany has removals reviewed by all clients at the same time, and adds the figures.
func (s *session) reviewMany(
	ctx context.Context, webhook *simulator.Webhook, removals []simulator.Removal, found *result.Scenario,
) (reviewsPerSecond float64, err error) {
	if err := s.settleDown(ctx); err != nil {
		return 0, err
	}
	before, err := s.meterReviews(ctx, webhook)
	if err != nil {
		return 0, err
	}
	all, took, err := s.reviewFor(ctx, webhook, removals)
	if err != nil {
		return 0, err
	}
	after, err := s.meterReviews(ctx, webhook)
	if err != nil {
		return 0, err
	}
	answered := float64(len(all.took))
	reads := after.requests.Since(before.requests).Reads(simulator.WebhookUser, append(simulator.AllResources, "addondependencypolicies")...)
	reviewsPerSecond = (answered - float64(all.unchecked)) / took.Seconds()
	found.Measure("reviews of MCAs per second", "", reviewsPerSecond)
	s.boundIfSmall(found, "answers that an MCA was not checked", 100*float64(all.unchecked)/answered, 1)
	found.Measure("review of an MCA: p50", "ms", result.Median(all.took))
	found.Measure("review of an MCA: p99", "ms", result.Quantile(all.took, 0.99))
	found.Measure("reads of the API server per review of an MCA", "", float64(reads)/answered)
	found.Measure("processor time of the API server per review of an MCA", "ms", 1000*(after.server-before.server).Seconds()/answered)
	found.Measure("processor time of the webhook per review of an MCA", "ms", 1000*(after.webhook-before.webhook).Seconds()/answered)
	return reviewsPerSecond, nil
}

// reviewReading is what the meters of a webhook show at a moment.
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

// reviewFor returns the answers that all clients get, and the time until the last one.
func (s *session) reviewFor(
	ctx context.Context, webhook *simulator.Webhook, removals []simulator.Removal,
) (all reviewed, took time.Duration, err error) {
	each := make([]reviewed, simulator.Reviewers)
	group, ctx := errgroup.WithContext(ctx)
	started := time.Now()
	for i := range each {
		random := rand.New(rand.NewPCG(s.seed, uint64(i)))
		group.Go(func() error {
			for time.Since(started) < reviewsFor {
				if err := each[i].add(ctx, webhook, removals[random.IntN(len(removals))]); err != nil {
					return err
				}
			}
			return nil
		})
	}
	err = group.Wait()
	took = time.Since(started)
	for _, one := range each {
		all.took = slices.Concat(all.took, one.took)
		all.unchecked += one.unchecked
	}
	return all, took, err
}

// add has one removal reviewed. An answer that lets it pass is an error, unless it says that it was not checked.
func (r *reviewed) add(ctx context.Context, webhook *simulator.Webhook, removal simulator.Removal) error {
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
