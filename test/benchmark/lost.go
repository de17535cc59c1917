package main

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"open-cluster-management.io/interlock/test/benchmark/result"
	"open-cluster-management.io/interlock/test/benchmark/simulator"
)

const (
	lostMethod = `The hub loses all clusters. As on OCM's hub, each ManagedCluster becomes Unknown, and then all of its add-ons. Then ` +
		`all clusters return, and their add-ons report again. On every tenth cluster, an add-on that two others require has ` +
		`failed meanwhile. The API server counts the writes of addon-manager. This runs once, because nothing is timed.`
	// lull is the waiting time for writes that must not happen.
	lull = 3 * time.Second
)

func lost(ctx context.Context, s *session, results *result.Scenario) error {
	if err := s.calmDown(ctx); err != nil {
		return err
	}
	whileLost, err := s.fleet.Hub.Requests.During(func() error { return s.loseAll(ctx) })
	if err != nil {
		return err
	}
	deadRoots := s.everyNth(10)
	afterwards, err := s.fleet.Hub.Requests.During(func() error { return s.returnAll(ctx, deadRoots) })
	if err != nil {
		return err
	}
	differing := len(deadRoots) * len(simulator.Dependents(s.fleet.AddOns, simulator.Root))
	written := afterwards.Writes(simulator.ManagerUser, simulator.FleetResources...)
	results.Bound("writes by addon-manager while the clusters are lost", "",
		float64(whileLost.Writes(simulator.ManagerUser, simulator.AllResources...)), result.NeverAbove, 0)
	results.Bound("writes after the return, beyond one per add-on that differs", "", float64(written-differing), result.NeverAbove, 0)
	results.Measure("add-ons that differ after the return", "", float64(differing))
	return s.recoverOn(ctx, deadRoots)
}

func (s *session) loseAll(ctx context.Context) error {
	err := simulator.ForEach(ctx, s.fleet.Clusters, func(ctx context.Context, cluster string) error {
		return s.fleet.Hub.ReportCluster(ctx, cluster, metav1.ConditionUnknown)
	})
	if err != nil {
		return err
	}
	if _, err := s.trivial.Report(ctx, s.allInstalled(""), metav1.ConditionUnknown); err != nil {
		return err
	}
	return pause(ctx, lull)
}

// returnAll has the clusters return before their add-ons report. The add-ons of the root come last. Otherwise a
// report after addon-manager's write would have to preserve that write.
func (s *session) returnAll(ctx context.Context, deadRoots []string) error {
	err := simulator.ForEach(ctx, s.fleet.Clusters, func(ctx context.Context, cluster string) error {
		return s.fleet.Hub.ReportCluster(ctx, cluster, metav1.ConditionTrue)
	})
	if err != nil {
		return err
	}
	if _, err := s.trivial.Report(ctx, s.allInstalled(simulator.Root), metav1.ConditionTrue); err != nil {
		return err
	}
	dead := map[string]bool{}
	for _, cluster := range deadRoots {
		dead[cluster] = true
	}
	var alive []string
	for _, cluster := range s.fleet.Clusters {
		if !dead[cluster] {
			alive = append(alive, cluster)
		}
	}
	if err := s.setAvailable(ctx, deadRoots, simulator.Root, false); err != nil {
		return err
	}
	if err := s.setAvailable(ctx, alive, simulator.Root, true); err != nil {
		return err
	}
	if err := s.settle(ctx, deadRoots); err != nil {
		return err
	}
	return pause(ctx, lull)
}

// allInstalled returns all add-ons on all clusters, except the add-on with this name.
func (s *session) allInstalled(except string) []types.NamespacedName {
	var keys []types.NamespacedName
	for _, addOn := range s.fleet.AddOns {
		if addOn.Name != except {
			keys = append(keys, simulator.KeysOn(s.fleet.Clusters, addOn.Name)...)
		}
	}
	return keys
}

// pause waits, to observe that nothing happens.
func pause(ctx context.Context, length time.Duration) error {
	timer := time.NewTimer(length)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
