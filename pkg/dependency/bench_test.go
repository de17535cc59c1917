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

// BenchmarkConditional is the work on a hub of 200 add-ons with 100 conditional
// edges each, any of which can be on a cycle: 84 with a selector, and as many
// with an expression as the schema allows.
func BenchmarkConditional(b *testing.B) {
	addOns := conditionalHub(200, 100)
	before, candidate := addOns[:199], addOns[199]
	cluster := Cluster{Available: metav1.ConditionTrue, Labels: map[string]string{"network": "private"}}
	observe := func(string) Observation { return running("1.0.0") }
	b.Run("catalog", func(b *testing.B) {
		for b.Loop() {
			NewCatalog(addOns)
		}
	})
	b.Run("review", func(b *testing.B) {
		var reviewer Reviewer
		reviewer.Review(&before[0], nil, before)
		for b.Loop() {
			reviewer.Review(&candidate, nil, before)
		}
	})
	b.Run("problems", func(b *testing.B) {
		for b.Loop() {
			c := NewCatalog(addOns)
			for i := range addOns {
				c.Problems(addOns[i].Name)
			}
		}
	})
	b.Run("evaluate", func(b *testing.B) {
		c := NewCatalog(addOns)
		for b.Loop() {
			for i := range addOns {
				c.Evaluate(addOns[i].Name, cluster, observe)
			}
		}
	})
}

// conditionalHub declares edges on the add-ons that follow each, in a ring.
// Every fourth condition holds where the label network is private.
func conditionalHub(addOns, edges int) []addonv1alpha1.ClusterManagementAddOn {
	name := func(i int) string { return fmt.Sprintf("addon-%03d", i%addOns) }
	var hub []addonv1alpha1.ClusterManagementAddOn
	for i := range addOns {
		addOn := registration(name(i))
		for j := range edges {
			network := "private"
			if (i+j)%4 != 0 {
				network = fmt.Sprintf("other-%d-%d", i, j)
			}
			edge := required(name(i + j + 1))
			edge.When = &addonv1alpha1.DependencyWhen{Expression: fmt.Sprintf("cluster.labels.?network.orValue('') == '%s'", network)}
			if j >= 16 {
				edge.When = &addonv1alpha1.DependencyWhen{ClusterSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"network": network}}}
			}
			addOn.Spec.Dependencies = append(addOn.Spec.Dependencies, edge)
		}
		hub = append(hub, addOn)
	}
	return hub
}
