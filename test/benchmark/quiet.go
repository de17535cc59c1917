package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"open-cluster-management.io/interlock/test/benchmark/result"
	"open-cluster-management.io/interlock/test/benchmark/simulator"
)

const (
	quietMethod = `A dependency is down on a fifth of the clusters, and each cluster has an agent. Four things happen, once each, because ` +
		`nothing is timed. addon-manager restarts. Its leader is killed, and another replica takes over. The API server ` +
		`restarts: every watch of addon-manager and of the agents ends, and resumes with a new list. All leases are renewed, ` +
		`and nothing else changes. The API server counts the writes to add-ons and events. Writes to the lease of the leader ` +
		`election do not count.`
	// resumedWithin is how long clients may take to resume after the API server has returned. Their retries slow down
	// to one in half a minute.
	resumedWithin = time.Minute
)

func quiet(ctx context.Context, s *session, results *result.Scenario) error {
	down := s.everyNth(5)
	if err := s.failOn(ctx, down); err != nil {
		return err
	}
	if err := s.calmDown(ctx); err != nil {
		return err
	}
	for _, disturbance := range []struct {
		name string
		run  func(context.Context) error
	}{
		{"restart of addon-manager", s.restartManager},
		{"another leader takes over", s.changeLeader},
		{"all watches are interrupted and resumed", s.interrupt},
		{"all leases are renewed", s.renewAll},
	} {
		requests, err := s.fleet.Hub.Requests.During(func() error { return disturbance.run(ctx) })
		if err != nil {
			return err
		}
		writes := requests.Writes(simulator.ManagerUser, simulator.FleetResources...) + requests.Writes(simulator.AgentUser, simulator.AllResources...)
		results.Bound("writes: "+disturbance.name, "", float64(writes), result.NeverAbove, 0)
	}
	return s.recoverOn(ctx, down)
}

func (s *session) restartManager(ctx context.Context) error {
	if err := s.stopManager(ctx); err != nil {
		return err
	}
	if err := s.startManager(ctx, simulator.ManagerOptions{Name: "addon-manager"}); err != nil {
		return err
	}
	return pause(ctx, lull)
}

// changeLeader kills an addon-manager that leads, and has a standby take over. The addon-manager that runs afterwards
// does not stand for election, because a leader ends when the API server is away for longer than its lease.
func (s *session) changeLeader(ctx context.Context) error {
	if err := s.stopManager(ctx); err != nil {
		return err
	}
	if err := s.startManager(ctx, simulator.ManagerOptions{Name: "leader", Elect: true}); err != nil {
		return err
	}
	leader := s.manager
	standby, err := s.fleet.Hub.StartManager(simulator.ManagerOptions{
		Binary: filepath.Join(s.bin, "addon-manager"), Name: "standby", Elect: true,
	})
	if err != nil {
		return err
	}
	s.manager = standby
	err = standby.AwaitReady(ctx)
	if err = errors.Join(err, leader.Kill()); err != nil {
		return err
	}
	if err := standby.AwaitEvaluated(ctx, s.installed()); err != nil {
		return err
	}
	return s.restartManager(ctx)
}

// interrupt ends all watches, and waits until the same number is open again.
func (s *session) interrupt(ctx context.Context) error {
	before, err := s.fleet.Hub.Watches(ctx)
	if err != nil {
		return err
	}
	if before < len(s.fleet.Clusters) {
		return fmt.Errorf("%d watches are open, fewer than there are agents (%d)", before, len(s.fleet.Clusters))
	}
	if err := s.fleet.Hub.Interrupt(); err != nil {
		return err
	}
	open := 0
	err = wait.PollUntilContextTimeout(ctx, time.Second, resumedWithin, true, func(ctx context.Context) (bool, error) {
		var err error
		open, err = s.fleet.Hub.Watches(ctx)
		return open >= before, err
	})
	if err != nil {
		return fmt.Errorf("of %d watches, %d were resumed within %s of the API server's return: %w", before, open, resumedWithin, err)
	}
	return pause(ctx, lull)
}

func (s *session) renewAll(ctx context.Context) error {
	for _, leases := range s.agents.Leases {
		for _, addOn := range s.fleet.AddOns {
			leases.RenewIfAlive(addOn.Name)
		}
	}
	return pause(ctx, lull)
}
