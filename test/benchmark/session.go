package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"open-cluster-management.io/interlock/test/benchmark/simulator"
)

// session is the shared part of scenarios: one fleet, and the processes on it.
type session struct {
	options

	progress *progress
	dir      string
	stage    stage

	fleet    *simulator.Fleet
	trivial  *simulator.Trivial
	observer *simulator.Observer
	manager  *simulator.Manager
	agents   *simulator.Agents
	// end ends the observer and the agents.
	end context.CancelFunc
}

func newSession(o options) (*session, error) {
	dir, err := os.MkdirTemp("", "interlock-benchmark-")
	if err != nil {
		return nil, err
	}
	return &session{options: o, progress: newProgress(os.Stdout), dir: dir, end: func() {}}, nil
}

// enter starts everything that a stage includes.
func (s *session) enter(ctx context.Context, target stage) error {
	steps := map[stage]func(context.Context) error{growing: s.startHub, hubOnly: s.startFleet, withAgents: s.startAgents}
	for s.stage < target {
		s.stage++
		if err := steps[s.stage](ctx); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) startHub(ctx context.Context) error {
	defer s.progress.step("starting a hub")()
	hub, err := simulator.StartHub(ctx, s.dir, "hub")
	if err != nil {
		return err
	}
	s.fleet, err = simulator.NewFleet(ctx, hub, simulator.AddOns(s.addOns, s.seed))
	if err != nil {
		return errors.Join(err, hub.Stop())
	}
	return nil
}

// grow lets clusters join until there are that many. Then it restarts the API server, which keeps recent events for
// its watches. The events of the installation of a whole fleet use more memory than all stored objects.
func (s *session) grow(ctx context.Context, size int) error {
	if size <= len(s.fleet.Clusters) {
		return nil
	}
	count, finish := s.progress.count(fmt.Sprintf("%d clusters with %d add-ons each", size, s.addOns), size-len(s.fleet.Clusters))
	defer finish()
	if err := s.fleet.Grow(ctx, size, count); err != nil {
		return err
	}
	if err := s.fleet.Hub.Interrupt(); err != nil {
		return err
	}
	return s.fleet.Hub.AwaitCache(ctx)
}

func (s *session) startFleet(ctx context.Context) error {
	if err := s.grow(ctx, s.clusters); err != nil {
		return err
	}
	var err error
	if s.trivial, err = s.fleet.Hub.NewTrivial(); err != nil {
		return err
	}
	observeCtx, end := context.WithCancel(ctx)
	s.end = end
	if s.observer, err = s.fleet.Hub.Observe(observeCtx); err != nil {
		return err
	}
	return s.startManager(ctx, simulator.ManagerOptions{Name: "addon-manager"})
}

// startManager starts an addon-manager and waits until it has evaluated all.
func (s *session) startManager(ctx context.Context, o simulator.ManagerOptions) error {
	defer s.progress.step("starting addon-manager")()
	o.Binary = filepath.Join(s.bin, "addon-manager")
	var err error
	if s.manager, err = s.fleet.Hub.StartManager(o); err != nil {
		return err
	}
	return s.manager.AwaitEvaluated(ctx, s.installed())
}

func (s *session) stopManager(ctx context.Context) error {
	manager := s.manager
	s.manager = nil
	return manager.Stop(ctx)
}

// installed returns the number of add-ons on all clusters.
func (s *session) installed() int { return len(s.fleet.Clusters) * len(s.fleet.AddOns) }

func (s *session) startAgents(ctx context.Context) error {
	defer s.progress.step(fmt.Sprintf("starting %d agents", len(s.fleet.Clusters)))()
	var err error
	if s.agents, err = s.fleet.StartAgents(ctx); err != nil {
		return err
	}
	return s.awaitAgents(ctx)
}

// awaitAgents waits until every agent has followed a lease down and up again.
func (s *session) awaitAgents(ctx context.Context) error {
	for _, step := range []struct {
		set  func(*simulator.Leases, string)
		want func(simulator.State) bool
	}{
		{(*simulator.Leases).Stop, simulator.AvailableIs("False")},
		{(*simulator.Leases).Renew, simulator.AvailableIs("True")},
	} {
		expected := simulator.Expectation{}
		for _, key := range simulator.KeysOn(s.fleet.Clusters, simulator.Leaf) {
			step.set(s.agents.Leases[key.Namespace], simulator.Leaf)
			expected[key] = step.want
		}
		if _, err := s.observer.Await(ctx, expected, s.patience(len(expected))); err != nil {
			return fmt.Errorf("wait for the agents: %w", err)
		}
	}
	return nil
}

// patience returns the maximum time for a number of writes. If they take longer, something is wrong.
func (s *session) patience(writes int) time.Duration {
	return 2*time.Minute + time.Duration(writes)*50*time.Millisecond
}

// setAvailable makes an add-on fail or recover on all of the clusters: by its leases if there are agents, otherwise
// by the trivial client.
func (s *session) setAvailable(ctx context.Context, clusters []string, addOn string, available bool) error {
	if s.agents == nil {
		_, err := s.trivial.Report(ctx, simulator.KeysOn(clusters, addOn), statusOf(available))
		return err
	}
	for _, cluster := range clusters {
		if available {
			s.agents.Leases[cluster].Renew(addOn)
		} else {
			s.agents.Leases[cluster].Stop(addOn)
		}
	}
	return nil
}

// everyNth returns every n-th cluster.
func (s *session) everyNth(n int) []string {
	var clusters []string
	for i := 0; i < len(s.fleet.Clusters); i += n {
		clusters = append(clusters, s.fleet.Clusters[i])
	}
	return clusters
}

// settle waits until the fleet is in the expected state while the root is down on some of the clusters.
func (s *session) settle(ctx context.Context, down []string) error {
	isDown := make(map[types.NamespacedName]bool, len(down))
	for _, key := range simulator.KeysOn(down, simulator.Root) {
		isDown[key] = true
	}
	expected := s.fleet.Expected(s.fleet.Clusters, func(key types.NamespacedName) bool { return isDown[key] })
	_, err := s.observer.Await(ctx, expected, s.patience(len(expected)))
	return err
}

// close ends everything. The logs stay when something went wrong.
func (s *session) close(failure error) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var failures []error
	if s.agents != nil {
		failures = append(failures, s.agents.Stop())
	}
	s.end()
	if s.manager != nil {
		failures = append(failures, s.manager.Stop(ctx))
	}
	if s.fleet != nil {
		failures = append(failures, s.fleet.Hub.Stop())
	}
	err := errors.Join(failures...)
	if err != nil || failure != nil && !errors.Is(failure, errMissed) {
		fmt.Println("The logs are in", s.dir)
		return err
	}
	return os.RemoveAll(s.dir)
}
