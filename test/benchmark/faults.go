package main

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"open-cluster-management.io/interlock/test/benchmark/result"
	"open-cluster-management.io/interlock/test/benchmark/simulator"
)

const (
	faultsMethod = `A storm of random failures and recoveries of dependencies, on a quarter of the clusters, runs twice. Both times, ` +
		`addon-manager reaches the API server through a proxy. The first proxy forwards everything. The second one replaces 10 ` +
		`% of the responses: by a 429, a conflict, or a 504. A 504 comes before or after the request is carried out. Both ` +
		`times, every Degraded must end as the rule of the proposal demands. The proxy counts the requests of addon-manager, ` +
		`without watches.`
	faultShare    = 0.1
	requestsBound = 1.5
	stormWithin   = 2 * time.Second
)

func faulty(ctx context.Context, s *session, results *result.Scenario) error {
	if err := s.stopManager(ctx); err != nil {
		return err
	}
	for i := range s.repetitions {
		seed := s.seed + uint64(i)
		clean, err := s.stormThrough(ctx, seed, 0)
		if err != nil {
			return err
		}
		disturbed, err := s.stormThrough(ctx, seed, faultShare)
		if err != nil {
			return err
		}
		results.Bound("requests with faults, relative to requests without", "×",
			float64(disturbed.requests)/float64(clean.requests), result.MedianAtMost, requestsBound)
		results.Bound("add-ons that ended in a wrong state", "", float64(clean.wrong+disturbed.wrong), result.NeverAbove, 0)
		results.Measure("requests without faults", "", float64(clean.requests))
		results.Measure("requests with faults", "", float64(disturbed.requests))
		results.Measure("faulty responses", "", float64(disturbed.faults))
		results.Measure("time until all states are right, without faults", "s", clean.took.Seconds())
		results.Measure("time until all states are right, with faults", "s", disturbed.took.Seconds())
	}
	return s.startManager(ctx, simulator.ManagerOptions{Name: "addon-manager"})
}

// stormResult is the outcome of a storm.
type stormResult struct {
	requests, faults, wrong int
	took                    time.Duration
}

// stormThrough plays the storm with addon-manager behind a proxy. It fails if the fleet does not reach the expected
// state in time.
func (s *session) stormThrough(ctx context.Context, seed uint64, share float64) (storm stormResult, err error) {
	faults := simulator.NewFaults(seed, share)
	proxy, err := s.fleet.Hub.StartProxy(faults)
	if err != nil {
		return storm, err
	}
	defer func() { err = errors.Join(err, proxy.Stop()) }()
	if err := s.startManager(ctx, simulator.ManagerOptions{Name: "behind-proxy", Kubeconfig: proxy.Kubeconfig}); err != nil {
		return storm, err
	}
	defer func() { err = errors.Join(err, s.stopManager(ctx)) }()

	requests, good := faults.Requests(), faults.Count(simulator.NoFault)
	started := time.Now()
	lastEvents, err := s.playStorm(ctx, seed)
	if err != nil {
		return storm, err
	}
	expected := s.fleet.Expected(s.fleet.Clusters, func(key types.NamespacedName) bool { return lastEvents[key] == simulator.Fails })
	ended, err := s.observer.Await(ctx, expected, s.patience(len(expected)))
	if err != nil {
		return storm, err
	}
	storm.took = ended.Sub(started)
	// Nothing may change any more once all states are right.
	if err := pause(ctx, lull); err != nil {
		return storm, err
	}
	storm.requests = faults.Requests() - requests
	storm.faults = storm.requests - (faults.Count(simulator.NoFault) - good)
	storm.wrong = s.observer.Wrong(expected)
	return storm, s.calm(ctx, lastEvents)
}

// playStorm lets dependencies fail and recover on a quarter of the clusters, one on each on average. It returns the
// last event of each dependency.
func (s *session) playStorm(ctx context.Context, seed uint64) (map[types.NamespacedName]simulator.EventKind, error) {
	var dependencies []types.NamespacedName
	for _, name := range []string{simulator.Root, "cluster-proxy", "governance-policy-framework"} {
		dependencies = append(dependencies, simulator.KeysOn(s.everyNth(4), name)...)
	}
	kinds := []simulator.EventKind{simulator.Fails, simulator.Recovers}
	schedule := simulator.NewSchedule(seed, dependencies, kinds, len(s.fleet.Clusters)/4, stormWithin)
	return schedule.Last(kinds...), schedule.Play(ctx, s.happen)
}

// calm makes everything recover that is down.
func (s *session) calm(ctx context.Context, last map[types.NamespacedName]simulator.EventKind) error {
	var down []types.NamespacedName
	for key, kind := range last {
		if kind == simulator.Fails {
			down = append(down, key)
		}
	}
	if _, err := s.trivial.Report(ctx, down, "True"); err != nil {
		return err
	}
	return s.settle(ctx, nil)
}
