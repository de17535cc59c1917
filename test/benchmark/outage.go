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

func outage(ctx context.Context, s *session, results *result.Scenario) error {
	growth := result.Chart{
		Name: "converge-" + results.ID, Title: "Time until all conditions are right, over the clusters hit at once",
		X: "clusters", Y: "seconds", Lines: []result.Line{{Name: "Interlock"}, {Name: "a trivial client's patches"}},
	}
	if s.agents == nil {
		tenth := s.fleet.Clusters[:len(s.fleet.Clusters)/10]
		if _, err := s.outageOnce(ctx, tenth, &growth, nil); err != nil {
			return err
		}
	}
	profiled := s.profileCPU(ctx, "outage-"+results.ID)
	for i := range s.repetitions {
		storm, err := s.outageOnce(ctx, s.fleet.Clusters, &growth, results)
		if err != nil {
			return err
		}
		if i == 0 {
			results.Charts = append(results.Charts, s.writesOverTime(results.ID, storm))
		}
	}
	if s.agents == nil {
		results.Charts = append(results.Charts, growth)
	}
	return profiled()
}

// outageOnce makes the root fail and recover on the clusters, and returns the comparison for the failure.
func (s *session) outageOnce(
	ctx context.Context, clusters []string, growth *result.Chart, results *result.Scenario,
) (comparison, error) {
	writes, storms := 0, [2]storm{{name: "it fails"}, {name: "it recovers"}}
	for i := range storms {
		up := i == 1
		storms[i].begin = func() error { return s.setAvailable(ctx, clusters, simulator.Root, up) }
		storms[i].expected, writes = s.outageExpected(clusters, up)
	}
	comparisons, err := s.compare(ctx, writes, storms[0], storms[1])
	if err != nil {
		return comparison{}, err
	}
	failed := comparisons[0]
	for i, took := range []time.Duration{failed.storm, failed.raw} {
		growth.Lines[i].Points = append(growth.Lines[i].Points, [2]float64{float64(len(clusters)), took.Seconds()})
	}
	if results != nil {
		for i := range comparisons {
			comparisons[i].addTo(results, storms[i].name, writes, stormBound)
		}
	}
	return failed, nil
}

// outageExpected returns the states to observe once the root is up or down on the clusters, and the number of status
// patches that this takes: Available of the root, Degraded of its dependents, and with agents Available of the
// dependents.
func (s *session) outageExpected(clusters []string, up bool) (simulator.Expectation, int) {
	expected, writes := simulator.Expectation{}, len(clusters)
	for _, edge := range simulator.Dependents(s.fleet.AddOns, simulator.Root) {
		for _, key := range simulator.KeysOn(clusters, edge.Dependent) {
			reason := ""
			if !up {
				reason = reasonOf(edge)
			}
			expected[key] = simulator.DegradedFor(reason)
			writes++
			if s.agents != nil && edge.Required {
				expected[key] = simulator.And(expected[key], simulator.AvailableIs(statusOf(up)))
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

// writesOverTime draws the number of conditions that changed in each quarter of a second of a storm.
func (s *session) writesOverTime(id string, storm comparison) result.Chart {
	const slice = 250 * time.Millisecond
	lines := []result.Line{{Name: "Available"}, {Name: "Degraded"}}
	slices := int(storm.storm/slice) + 2
	counts := map[string][]int{"Available": make([]int, slices), "Degraded": make([]int, slices)}
	for _, change := range s.observer.Changes(storm.began) {
		if index := int(change.Time.Sub(storm.began) / slice); index < slices {
			counts[change.Type][index]++
		}
	}
	for i := range lines {
		for index, count := range counts[lines[i].Name] {
			seconds := (time.Duration(index) * slice).Seconds()
			lines[i].Points = append(lines[i].Points, [2]float64{seconds, float64(count) / slice.Seconds()})
		}
	}
	return result.Chart{
		Name: "writes-" + id, Title: "Conditions that change while a dependency fails on all clusters",
		X: "seconds since it failed", Y: "changes per second", Lines: lines,
	}
}
