package dependency

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// BenchmarkEvaluate decides the condition of an add-on on one cluster.
func BenchmarkEvaluate(b *testing.B) {
	satisfied := Observation{Installed: true, Available: available(metav1.ConditionTrue, "ManagedClusterAddOnLeaseUpdated")}
	stopped := Observation{Installed: true, Available: available(metav1.ConditionFalse, "ManagedClusterAddOnLeaseUpdateStopped")}
	cluster := Cluster{Available: metav1.ConditionTrue, Offline: OfflineHold}

	for _, state := range []struct {
		name     string
		observed Observation
	}{{"satisfied", satisfied}, {"unsatisfied", stopped}} {
		for _, edges := range []int{1, 5, 500} {
			addOn := registration("x")
			for i := range edges {
				addOn.Spec.Dependencies = append(addOn.Spec.Dependencies, required(fmt.Sprintf("addon-%03d", i)))
			}
			c := NewCatalog(append(registrations("base:"), addOn))
			observe := func(string) Observation { return state.observed }
			b.Run(fmt.Sprintf("%s/edges=%d", state.name, edges), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					Degraded(nil, c.Evaluate("x", cluster, observe), now)
				}
				b.ReportMetric(float64(edges)*float64(b.N)/b.Elapsed().Seconds(), "edges/s")
			})
		}
	}
}

// BenchmarkNewCatalog builds the catalog of a hub of 200 add-ons that depend
// on the five before them.
func BenchmarkNewCatalog(b *testing.B) {
	addOns := registrations("addon-000:")
	for i := 1; i < 200; i++ {
		addOn := registration(fmt.Sprintf("addon-%03d", i))
		for j := max(0, i-5); j < i; j++ {
			addOn.Spec.Dependencies = append(addOn.Spec.Dependencies, required(fmt.Sprintf("addon-%03d", j)))
		}
		addOns = append(addOns, addOn)
	}
	b.ReportAllocs()
	for b.Loop() {
		NewCatalog(addOns)
	}
}
