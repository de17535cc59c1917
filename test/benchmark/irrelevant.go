package main

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"open-cluster-management.io/interlock/test/benchmark/result"
	"open-cluster-management.io/interlock/test/benchmark/simulator"
)

const (
	irrelevantMethod = `A dependency is down on a fifth of the clusters. Each second, 200 updates change other conditions and labels of ` +
		`add-ons. The API server counts the reads and writes of addon-manager. The processor time of addon-manager is compared with ` +
		`that of the API server.`
	updatesPerSecond = 200
	updatesFor       = 12 * time.Second
	maxCPUShare      = 5
)

func irrelevant(ctx context.Context, s *session, results *result.Scenario) error {
	down := s.everyNth(5)
	if err := s.failOn(ctx, down); err != nil {
		return err
	}
	if err := s.calmDown(ctx); err != nil {
		return err
	}
	profiled := s.profileCPU(ctx, "irrelevant")
	for i := range s.repetitions {
		if err := s.irrelevantOnce(ctx, s.seed+uint64(i), results); err != nil {
			return err
		}
	}
	if err := profiled(); err != nil {
		return err
	}
	return s.recoverOn(ctx, down)
}

// failOn makes the root fail on some clusters, and waits for the consequences.
func (s *session) failOn(ctx context.Context, clusters []string) error {
	if err := s.setAvailable(ctx, clusters, simulator.Root, false); err != nil {
		return err
	}
	return s.settle(ctx, clusters)
}

func (s *session) recoverOn(ctx context.Context, clusters []string) error {
	if err := s.setAvailable(ctx, clusters, simulator.Root, true); err != nil {
		return err
	}
	return s.settle(ctx, nil)
}

func (s *session) irrelevantOnce(ctx context.Context, seed uint64, results *result.Scenario) error {
	var addOns []types.NamespacedName
	for _, name := range []string{simulator.Leaf, edited, "cluster-proxy", "governance-policy-framework"} {
		addOns = append(addOns, simulator.KeysOn(s.fleet.Clusters, name)...)
	}
	schedule := simulator.NewSchedule(seed, addOns, []simulator.EventKind{simulator.Irrelevant, simulator.Relabeled},
		int(updatesPerSecond*updatesFor.Seconds()), updatesFor)

	before, err := s.meter(ctx)
	if err != nil {
		return err
	}
	if err := schedule.Play(ctx, s.happen); err != nil {
		return err
	}
	after, err := s.meter(ctx)
	if err != nil {
		return err
	}
	requests := after.requests.Since(before.requests)
	server, manager := after.server-before.server, after.manager-before.manager
	results.Bound("reads by addon-manager", "",
		float64(requests.Reads(simulator.ManagerUser, simulator.AllResources...)), result.NeverAbove, 0)
	results.Bound("writes by addon-manager", "",
		float64(requests.Writes(simulator.ManagerUser, simulator.AllResources...)), result.NeverAbove, 0)
	results.Bound("processor time of addon-manager, relative to the API server", "%",
		100*manager.Seconds()/server.Seconds(), result.MedianAtMost, maxCPUShare)
	results.Measure("processor time of the API server per update", "ms", 1000*server.Seconds()/float64(len(schedule)))
	results.Measure("updates per second reached", "", float64(len(schedule))/after.time.Sub(before.time).Seconds())
	return nil
}

// happen carries out an event by the trivial client.
func (s *session) happen(ctx context.Context, event simulator.Event) error {
	addOns := []types.NamespacedName{event.AddOn}
	var err error
	switch event.Kind {
	case simulator.Fails, simulator.Recovers:
		_, err = s.trivial.Report(ctx, addOns, statusOf(event.Kind == simulator.Recovers))
	case simulator.Irrelevant:
		_, err = s.trivial.Touch(ctx, addOns, 1)
	case simulator.Relabeled:
		err = s.trivial.Label(ctx, event.AddOn, event.Offset.String())
	default:
		err = fmt.Errorf("event %[2]q of add-on %[1]s is unknown", event.AddOn, event.Kind)
	}
	return err
}

// reading is a reading of the session's meters at one moment.
type reading struct {
	time            time.Time
	requests        simulator.Counts
	server, manager time.Duration
}

func (s *session) meter(ctx context.Context) (reading, error) {
	requests, err := s.fleet.Hub.Requests.Count()
	if err != nil {
		return reading{}, err
	}
	server, err := s.fleet.Hub.CPU(ctx)
	if err != nil {
		return reading{}, err
	}
	usage, err := simulator.UsageOf(s.manager.PID())
	return reading{time: time.Now(), requests: requests, server: server, manager: usage.CPU}, err
}
