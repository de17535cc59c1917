package main

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"open-cluster-management.io/interlock/test/benchmark/result"
	"open-cluster-management.io/interlock/test/benchmark/simulator"
)

const (
	outageMethod = `Two add-ons require a third one, which fails on all clusters at once, and then recovers. A trivial client patches its ` +
		`status; with agents, its leases stop instead. The time ends when a watch has delivered the last condition that ` +
		`changes. Between failure and recovery, a trivial client patches the status of another add-on as many times, with the ` +
		`same watches open. No add-on depends on that one. The API server collects its garbage before each of the three.`
)

func outage(ctx context.Context, s *session, found *result.Scenario) error {
	growth := result.Chart{
		Name: "converge-" + found.ID, Title: "Time until all conditions are right, over the clusters hit at once",
		X: "clusters", Y: "seconds", Lines: []result.Line{{Name: "Interlock"}, {Name: "a trivial client's patches"}},
	}
	if s.agents == nil {
		few := s.fleet.Clusters[:len(s.fleet.Clusters)/10]
		if _, err := s.outageOnce(ctx, few, &growth, nil); err != nil {
			return err
		}
	}
	profiled := s.profileCPU(ctx, "outage-"+found.ID)
	for i := range s.repetitions {
		storm, err := s.outageOnce(ctx, s.fleet.Clusters, &growth, found)
		if err != nil {
			return err
		}
		if i == 0 {
			found.Charts = append(found.Charts, s.writesOverTime(found.ID, storm))
		}
	}
	if s.agents == nil {
		found.Charts = append(found.Charts, growth)
	}
	return profiled()
}

// outageOnce makes the root fail and recover on the clusters, and returns the
// first of both storms.
func (s *session) outageOnce(
	ctx context.Context, clusters []string, growth *result.Chart, found *result.Scenario,
) (failed compared, err error) {
	writes, storms := 0, [2]storm{{name: "it fails"}, {name: "it recovers"}}
	for i := range storms {
		up := i == 1
		storms[i].begin = func() error { return s.setAvailable(ctx, clusters, simulator.Root, up) }
		storms[i].expected, writes = s.outageExpected(clusters, up)
	}
	played, err := s.compare(ctx, writes, storms[0], storms[1])
	if err != nil {
		return compared{}, err
	}
	failed = played[0]
	for i, took := range []time.Duration{failed.storm, failed.raw} {
		growth.Lines[i].At = append(growth.Lines[i].At, [2]float64{float64(len(clusters)), took.Seconds()})
	}
	if found != nil {
		for i := range played {
			played[i].addTo(found, storms[i].name, writes, stormBound)
		}
	}
	return failed, nil
}

// outageExpected returns what must be observed once the root is up or down on the
// clusters, and how many status patches that takes: its own Available, Degraded
// of its dependents, and where there are agents their Available.
func (s *session) outageExpected(clusters []string, up bool) (simulator.Expectation, int) {
	expected, writes := simulator.Expectation{}, len(clusters)
	for _, edge := range simulator.Dependents(s.fleet.AddOns, simulator.Root) {
		for _, key := range simulator.On(clusters, edge.Dependent) {
			reason := ""
			if !up {
				reason = reasonOf(edge)
			}
			expected[key] = simulator.DegradedFor(reason)
			writes++
			if s.agents != nil && edge.Required {
				expected[key] = simulator.Both(expected[key], simulator.AvailableIs(statusOf(up)))
				writes++
			}
		}
	}
	return expected, writes
}

func statusOf(available bool) metav1.ConditionStatus {
	if available {
		return metav1.ConditionTrue
	}
	return metav1.ConditionFalse
}

// writesOverTime draws how many conditions changed in each quarter of a second
// of a storm.
func (s *session) writesOverTime(id string, storm compared) result.Chart {
	const slice = 250 * time.Millisecond
	lines := []result.Line{{Name: "Available"}, {Name: "Degraded"}}
	slices := int(storm.storm/slice) + 2
	counts := map[string][]int{"Available": make([]int, slices), "Degraded": make([]int, slices)}
	for _, change := range s.observer.Changes(storm.began) {
		if at := int(change.At.Sub(storm.began) / slice); at < slices {
			counts[change.Type][at]++
		}
	}
	for i := range lines {
		for at, count := range counts[lines[i].Name] {
			seconds := (time.Duration(at) * slice).Seconds()
			lines[i].At = append(lines[i].At, [2]float64{seconds, float64(count) / slice.Seconds()})
		}
	}
	return result.Chart{
		Name: "writes-" + id, Title: "Conditions that change while a dependency fails on all clusters",
		X: "seconds since it failed", Y: "changes per second", Lines: lines,
	}
}
