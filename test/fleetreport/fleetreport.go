// Package fleetreport makes reports on fleets of snapshots, as addon-manager makes them of its cache.
package fleetreport

import (
	"testing"

	clusterv1 "open-cluster-management.io/api/cluster/v1"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation/cause"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/report"
)

// Of returns the report on the fleet of a snapshot.
func Of(t testing.TB, hub *snapshot.Snapshot) *report.FleetReport {
	t.Helper()
	inputs := report.FleetInputs{
		Observed:     hub.Taken,
		Explanations: map[cause.Cause]report.Explanation{},
		Reasons:      map[dependencyv1alpha1.UnexplainedState]string{},
		Objects:      map[string]*clusterv1.ManagedCluster{},
		Unusable:     report.FindUnusable(hub.Declared, ""),
	}
	views := map[string]report.View{}
	var states []report.ClusterState
	for _, name := range hub.Names() {
		view := report.View{
			Cluster: report.EvaluateCluster(hub.Evaluation(), hub.Whole(name)),
			Object:  hub.Object(name),
			AddOns:  hub.Installed(name),
		}
		view.Waiting = hub.Waiting(name)
		state, err := view.State()
		if err != nil {
			t.Fatal(err)
		}
		states, views[name] = append(states, state), view
		if view.Object != nil {
			inputs.Objects[name] = view.Object
		}
	}
	tally, err := report.Count(states)
	if err != nil {
		t.Fatal(err)
	}
	for _, example := range tally.Examples() {
		explanation, ok := views[example.Cluster].Explain(example.Cause)
		if !ok {
			t.Errorf("%s is no cause on its example %s", example.Cause, example.Cluster)
		}
		inputs.Explanations[example.Cause] = explanation
	}
	for _, example := range tally.UnexplainedExamples() {
		inputs.Reasons[example.State] = views[example.Cluster].ExplainUnexplained(example.State, example.AddOn)
	}
	return tally.Report(inputs)
}
