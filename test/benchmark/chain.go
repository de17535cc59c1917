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
	chainMethod = `Six add-ons on one cluster each require the one before. The lease of the first one, the root, stops and is renewed ` +
		`again. The time ends when Available of every add-on has followed. Each write has to be observed before the next ` +
		`decision. To break takes 7 such writes. The agent sets Available of the root. addon-manager sets five times Degraded, ` +
		`each because of Degraded of the add-on before. The agent then sets Available of the last add-on. To recover takes 11: ` +
		`six of Available and five of Degraded, in turns. An add-on has to be available again before the next one is satisfied. ` +
		`The time is compared with as many status patches by a trivial client. Each patch waits until a watch has delivered the ` +
		`one before.`
	chainLength = 6
	// The number of writes in a chain of consequences.
	chainBreaks   = chainLength + 1
	chainRecovers = 2*chainLength - 1
	chainFlips    = 20
	chainBound    = 1.3
)

func chain(ctx context.Context, s *session, results *result.Scenario) error {
	cluster := s.fleet.Clusters[0]
	keys, err := s.installChain(ctx, cluster)
	if err != nil {
		return err
	}
	for range s.repetitions {
		var broken, recovered, breaking, recovering []float64
		for range chainFlips {
			for _, up := range []bool{false, true} {
				count, raw, times := chainBreaks, &breaking, &broken
				if up {
					count, raw, times = chainRecovers, &recovering, &recovered
				}
				trips, err := s.roundTrips(ctx, cluster, count)
				if err != nil {
					return err
				}
				took, err := s.chainOnce(ctx, keys, up)
				if err != nil {
					return err
				}
				*raw, *times = append(*raw, trips.Seconds()), append(*times, took.Seconds())
			}
		}
		results.Bound("it breaks: median relative to the round trips it needs", "×",
			result.Median(broken)/result.Median(breaking), result.MedianAtMost, chainBound)
		results.Bound("it recovers: median relative to the round trips it needs", "×",
			result.Median(recovered)/result.Median(recovering), result.MedianAtMost, chainBound)
		results.Measure("it breaks", "ms", 1000*result.Median(broken))
		results.Measure("it recovers", "ms", 1000*result.Median(recovered))
		results.Measure(fmt.Sprintf("%d round trips", chainBreaks), "ms", 1000*result.Median(breaking))
		results.Measure(fmt.Sprintf("%d round trips", chainRecovers), "ms", 1000*result.Median(recovering))
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
		expected[key] = simulator.And(simulator.DegradedFor(""), simulator.AvailableIs("True"))
	}
	if _, err := s.observer.Await(ctx, expected, s.patience(chainLength)); err != nil {
		return nil, err
	}
	// Degraded exists only after something has failed once.
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

// chainOnce breaks or repairs the root, and returns the time until each add-on of the chain has followed.
func (s *session) chainOnce(ctx context.Context, keys []types.NamespacedName, up bool) (time.Duration, error) {
	expected := simulator.Expectation{}
	for _, key := range keys {
		expected[key] = simulator.AvailableIs(statusOf(up))
	}
	started := time.Now()
	if err := s.setAvailable(ctx, []string{keys[0].Namespace}, keys[0].Name, up); err != nil {
		return 0, err
	}
	ended, err := s.observer.Await(ctx, expected, s.patience(chainRecovers))
	return ended.Sub(started), err
}

// roundTrips makes that many status patches, and waits for each to be delivered. It returns the time that this took.
func (s *session) roundTrips(ctx context.Context, cluster string, count int) (time.Duration, error) {
	key := types.NamespacedName{Namespace: cluster, Name: simulator.Leaf}
	started := time.Now()
	for range count {
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
