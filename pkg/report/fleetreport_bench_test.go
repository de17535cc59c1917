package report_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/report"
	"open-cluster-management.io/interlock/test/fixture"
)

// largeFleet returns 5,000 managed clusters with 20 add-ons each. 19 of them require the first one, which is not available on a third of
// the clusters.
func largeFleet() snapshot.Content {
	declared := []string{"addon-00"}
	for i := 1; i < 20; i++ {
		declared = append(declared, fmt.Sprintf("addon-%02d: addon-%02d addon-00", i, i-1))
	}
	content := snapshot.Content{Taken: fixture.Now.Time, Registrations: fixture.Registrations(strings.Join(declared, ", "))}
	for c := range 5000 {
		cluster := clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("cluster-%04d", c), Labels: map[string]string{}}}
		for label := range 10 {
			cluster.Labels[fmt.Sprintf("label-%d", label)] = fmt.Sprint(c % (2 + label))
		}
		cluster.Status.Conditions = []metav1.Condition{{Type: clusterv1.ManagedClusterConditionAvailable, Status: metav1.ConditionTrue}}
		content.Clusters = append(content.Clusters, cluster)
		for i := range 20 {
			addOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Name, Name: fmt.Sprintf("addon-%02d", i)}}
			changed := metav1.NewTime(fixture.Earlier.Add(-time.Duration(c) * time.Second))
			status := metav1.ConditionTrue
			if c%3 == 0 {
				status = metav1.ConditionFalse
				if i > 0 {
					addOn.Status.Conditions = append(addOn.Status.Conditions, metav1.Condition{
						Type: "Degraded", Status: metav1.ConditionTrue, LastTransitionTime: changed,
						Reason: addonv1alpha1.AddonDegradedReasonRequiredDependencyNotSatisfied,
					})
				}
			}
			addOn.Status.Conditions = append(addOn.Status.Conditions,
				metav1.Condition{Type: "Available", Status: status, Reason: "Lease", LastTransitionTime: changed})
			content.AddOns = append(content.AddOns, addOn)
		}
	}
	return content
}

// BenchmarkFleetReport makes the report on a large fleet of the states of its clusters. It also measures the memory of these states.
func BenchmarkFleetReport(b *testing.B) {
	hub := snapshot.New(largeFleet())
	views := make([]report.View, 0, 5000)
	for _, name := range hub.Names() {
		views = append(views, report.View{
			Cluster: report.EvaluateCluster(hub.Evaluation(), hub.Whole(name)), Object: hub.Object(name), AddOns: hub.Installed(name),
		})
	}
	objects := map[string]*clusterv1.ManagedCluster{}
	for _, view := range views {
		objects[view.Name] = view.Object
	}
	before := heap()
	started := time.Now()
	states := make([]report.ClusterState, 0, len(views))
	for _, view := range views {
		state, err := view.State()
		if err != nil {
			b.Fatal(err)
		}
		states = append(states, state)
	}
	took := time.Since(started)
	after := heap()
	runtime.KeepAlive(views)
	b.ResetTimer()
	for b.Loop() {
		tally, err := report.Count(states)
		if err != nil {
			b.Fatal(err)
		}
		if got := tally.Report(report.FleetInputs{Observed: hub.Taken, Objects: objects}); len(got.RootCauses) != 1 {
			b.Fatalf("%d causes", len(got.RootCauses))
		}
	}
	b.ReportMetric(float64(int64(after)-int64(before))/(1<<20), "MiB-states")
	b.ReportMetric(float64(took.Microseconds())/float64(len(views)), "µs/state")
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}
