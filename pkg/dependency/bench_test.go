package dependency

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
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

// BenchmarkEvaluateBeyond is the same with edges that ask for more than the
// proposal; all are satisfied.
func BenchmarkEvaluateBeyond(b *testing.B) {
	self := Observation{
		Installed: true, Available: available(metav1.ConditionTrue, ""), Version: "1.4.0", Config: map[string]string{"mode": "proxy"},
	}
	cluster := Cluster{
		Available: metav1.ConditionTrue, Offline: OfflineHold, Labels: map[string]string{"network": "private"}, KubernetesVersion: "v1.31.2-gke.100",
		Facts: Facts{APIs: map[addonv1alpha1.AddonAPI]APIFact{{Kind: "Pod"}: {Served: metav1.ConditionTrue}}},
	}
	observe := func(string) Observation { return self }
	for _, kind := range []struct{ name, spec string }{
		{"plain", `dependencies: [{name: a}]`},
		{"version", `dependencies: [{name: a, version: ">= 1.0 < 2.0"}]`},
		{"api", `dependencies: [{name: a, api: {kind: Pod}}]`},
		{"kubernetes", `requirements: {kubernetes: ">= 1.28"}`},
		{"selector", `dependencies: [{name: a, when: {clusterSelector: {matchLabels: {network: private}}}}]`},
		{"expression", `dependencies: [{name: a, when: {expression: "config.mode == 'proxy'"}}]`},
	} {
		c := NewCatalog([]addonv1alpha1.ClusterManagementAddOn{specified(b, "x", kind.spec)})
		b.Run(kind.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, write := Degraded(nil, c.Evaluate("x", cluster, observe), now); write {
					b.Fatal("not satisfied")
				}
			}
		})
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
