package main

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/test/benchmark/result"
	"open-cluster-management.io/interlock/test/benchmark/simulator"
)

const (
	chainMethod = `Six add-ons on one cluster each require the one before. The first one's lease stops, and is renewed again; measured until the last ` +
		`one's Available has followed. That takes 11 writes, each of which must be seen before the next can be decided on: six of Available, by the agent, ` +
		`and five of Degraded, by addon-manager. Compared with 11 times a status patch by a trivial client and its delivery on a watch.`
	chainLength = 6
	chainWrites = 2*chainLength - 1
	chainFlips  = 20
	chainBound  = 1.5
)

func chain(ctx context.Context, s *session, found *result.Scenario) error {
	cluster := s.fleet.Clusters[0]
	keys, err := s.installChain(ctx, cluster)
	if err != nil {
		return err
	}
	for range s.repetitions {
		var raw, broken, recovered []float64
		for range chainFlips {
			for _, up := range []bool{false, true} {
				trips, err := s.roundTrips(ctx, cluster)
				if err != nil {
					return err
				}
				took, err := s.chainOnce(ctx, keys, up)
				if err != nil {
					return err
				}
				raw = append(raw, trips.Seconds())
				if up {
					recovered = append(recovered, took.Seconds())
				} else {
					broken = append(broken, took.Seconds())
				}
			}
		}
		found.Bound("it breaks: median over that of the round trips it needs", "×", result.Median(broken)/result.Median(raw), result.MedianAtMost, chainBound)
		found.Bound("it recovers: median over that of the round trips it needs", "×", result.Median(recovered)/result.Median(raw), result.MedianAtMost, chainBound)
		found.Measure("it breaks", "ms", 1000*result.Median(broken))
		found.Measure("it recovers", "ms", 1000*result.Median(recovered))
		found.Measure(fmt.Sprintf("%d round trips", chainWrites), "ms", 1000*result.Median(raw))
	}
	return s.uninstallChain(ctx, keys)
}

func (s *session) installChain(ctx context.Context, cluster string) ([]types.NamespacedName, error) {
	var keys []types.NamespacedName
	expected := simulator.Expectation{}
	for i := range chainLength {
		addOn := simulator.AddOn{Name: fmt.Sprintf("chain-%d", i+1)}
		if i > 0 {
			addOn.Dependencies = []addonv1alpha1.AddonDependency{{Name: keys[i-1].Name, Type: addonv1alpha1.DependencyTypeRequired}}
		}
		s.agents.Leases[cluster].Renew(addOn.Name)
		if err := s.fleet.Hub.Register(ctx, addOn); err != nil {
			return nil, err
		}
		if err := s.fleet.Hub.Install(ctx, cluster, addOn.Name); err != nil {
			return nil, err
		}
		key := types.NamespacedName{Namespace: cluster, Name: addOn.Name}
		keys = append(keys, key)
		expected[key] = simulator.Both(simulator.DegradedFor(""), simulator.AvailableIs("True"))
	}
	if _, err := s.observer.Await(ctx, expected, s.patience(chainLength)); err != nil {
		return nil, err
	}
	// Degraded comes to be only when something has failed once.
	for _, up := range []bool{false, true} {
		if _, err := s.chainOnce(ctx, keys, up); err != nil {
			return nil, err
		}
	}
	return keys, nil
}

func (s *session) uninstallChain(ctx context.Context, keys []types.NamespacedName) error {
	for _, key := range keys {
		if err := s.fleet.Hub.Uninstall(ctx, key.Namespace, key.Name); err != nil {
			return err
		}
	}
	return nil
}

// chainOnce breaks or mends the root, and returns how long it took until each
// add-on of the chain had followed.
func (s *session) chainOnce(ctx context.Context, keys []types.NamespacedName, up bool) (time.Duration, error) {
	expected := simulator.Expectation{}
	for _, key := range keys {
		expected[key] = simulator.AvailableIs(statusOf(up))
	}
	started := time.Now()
	if err := s.setAvailable(ctx, []string{keys[0].Namespace}, keys[0].Name, up); err != nil {
		return 0, err
	}
	ended, err := s.observer.Await(ctx, expected, s.patience(chainWrites))
	return ended.Sub(started), err
}

// roundTrips makes as many status patches as a chain takes, each after the one
// before was delivered, and returns how long that took.
func (s *session) roundTrips(ctx context.Context, cluster string) (time.Duration, error) {
	key := types.NamespacedName{Namespace: cluster, Name: simulator.Leaf}
	started := time.Now()
	for range chainWrites {
		version, err := s.trivial.TouchOne(ctx, key)
		if err != nil {
			return 0, err
		}
		delivered := simulator.Expectation{key: simulator.VersionIs(version)}
		if _, err := s.observer.Await(ctx, delivered, s.patience(1)); err != nil {
			return 0, err
		}
	}
	return time.Since(started), nil
}
