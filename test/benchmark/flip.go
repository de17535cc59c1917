package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"open-cluster-management.io/interlock/test/benchmark/result"
	"open-cluster-management.io/interlock/test/benchmark/simulator"
)

const (
	flipMethod = `One dependency fails and recovers on one cluster. This alternates between the fleet and smaller fleets: one of 10 ` +
		`clusters and, if the fleet is larger, one of 1,000. Each fleet has its own hub and addon-manager. The time runs from ` +
		`the patch until a watch has delivered Degraded of both dependents. The largest fleet is compared with the smallest. ` +
		`Meanwhile, the API server of the largest fleet counts the requests of addon-manager.`
	flipsEach = 300
	flatBound = 1.2
	tenth     = 10
	thousand  = 1000
)

// flipFleet is a fleet of one size that flips are measured on.
type flipFleet struct {
	*session

	took []float64
}

func flip(ctx context.Context, s *session, results *result.Scenario) (err error) {
	var fleets []*flipFleet
	for _, size := range []int{tenth, thousand} {
		if size >= s.clusters {
			continue
		}
		smaller, err := s.smallerSession(ctx, size)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, smaller.close(nil)) }()
		fleets = append(fleets, &flipFleet{session: smaller})
	}
	fleets = append(fleets, &flipFleet{session: s})
	for range s.repetitions {
		if err := flipInTurns(ctx, fleets, results); err != nil {
			return err
		}
	}
	results.Charts = append(results.Charts, flipChart(fleets))
	return nil
}

// flipInTurns runs a single repetition. It fails if there is only one fleet, because then there is nothing to compare.
func flipInTurns(ctx context.Context, fleets []*flipFleet, results *result.Scenario) error {
	smallest, largest := fleets[0], fleets[len(fleets)-1]
	if smallest == largest {
		return fmt.Errorf("a fleet of %d clusters is not larger than the smallest one", len(largest.fleet.Clusters))
	}
	first := len(largest.took)
	requests, err := largest.fleet.Hub.Requests.During(func() error { return flipAll(ctx, fleets) })
	if err != nil {
		return err
	}
	for _, q := range []struct {
		name  string
		share float64
	}{{"p50", 0.5}, {"p99", 0.99}} {
		small, large := result.Quantile(smallest.took[first:], q.share), result.Quantile(largest.took[first:], q.share)
		results.Bound(q.name+": the largest fleet relative to the smallest", "×", large/small, result.MedianAtMost, flatBound)
		for _, fleet := range fleets {
			results.Measure(fmt.Sprintf("%s with %d clusters", q.name, len(fleet.fleet.Clusters)), "ms",
				1000*result.Quantile(fleet.took[first:], q.share))
		}
	}
	results.Bound("reads and lists by addon-manager", "",
		float64(requests.Reads(simulator.ManagerUser, simulator.AllResources...)), result.NeverAbove, 0)
	results.Measure("writes to add-ons per flip", "", float64(requests.Writes(simulator.ManagerUser, simulator.FleetResources...))/flipsEach)
	return nil
}

// flipAll makes the root fail and recover many times, on one cluster of each fleet in turns.
func flipAll(ctx context.Context, fleets []*flipFleet) error {
	for i := range flipsEach {
		for _, fleet := range fleets {
			if err := fleet.flipOnce(ctx, i); err != nil {
				return err
			}
		}
	}
	return nil
}

// flipOnce fails or recovers the root on one cluster. It visits every cluster in turn, down first and then up.
func (f *flipFleet) flipOnce(ctx context.Context, i int) error {
	clusters := f.fleet.Clusters[i/2*7919%len(f.fleet.Clusters):][:1]
	up := i%2 == 1
	expected, writes := f.outageExpected(clusters, up)
	started := time.Now()
	if err := f.setAvailable(ctx, clusters, simulator.Root, up); err != nil {
		return err
	}
	ended, err := f.observer.Await(ctx, expected, f.patience(writes))
	f.took = append(f.took, ended.Sub(started).Seconds())
	return err
}

func flipChart(fleets []*flipFleet) result.Chart {
	chart := result.Chart{
		Name: "flip", Title: "Reaction to one dependency that flips on one cluster, over the size of the fleet",
		X: "add-ons on all clusters", Y: "milliseconds", Lines: []result.Line{{Name: "p50"}, {Name: "p99"}},
	}
	for _, fleet := range fleets {
		size := float64(fleet.installed())
		for i, share := range []float64{0.5, 0.99} {
			chart.Lines[i].Points = append(chart.Lines[i].Points, [2]float64{size, 1000 * result.Quantile(fleet.took, share)})
		}
	}
	return chart
}

// smallerSession returns a similar session, on its own hub, with fewer clusters and add-ons.
func (s *session) smallerSession(ctx context.Context, clusters int) (*session, error) {
	o := s.options
	o.clusters, o.addOns = clusters, simulator.MinAddOns
	smaller := &session{options: o, progress: s.progress, dir: filepath.Join(s.dir, fmt.Sprintf("fleet-of-%d", clusters)), end: func() {}}
	if err := makeFolder(smaller.dir); err != nil {
		return nil, err
	}
	if err := smaller.enter(ctx, hubOnly); err != nil {
		return nil, errors.Join(err, smaller.close(err))
	}
	return smaller, nil
}
