package condition

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/plan/review"
	"open-cluster-management.io/interlock/test/fixture"
)

// BenchmarkEvaluate decides the condition of an add-on on one cluster.
func BenchmarkEvaluate(b *testing.B) {
	satisfied := evaluation.Observation{Installed: true, Available: fixture.Available(metav1.ConditionTrue, "ManagedClusterAddOnLeaseUpdated")}
	stopped := evaluation.Observation{
		Installed: true, Available: fixture.Available(metav1.ConditionFalse, "ManagedClusterAddOnLeaseUpdateStopped"),
	}
	cluster := evaluation.Cluster{Available: metav1.ConditionTrue, Offline: evaluation.OfflineHold}

	for _, state := range []struct {
		name     string
		observed evaluation.Observation
	}{{"satisfied", satisfied}, {"unsatisfied", stopped}} {
		for _, edges := range []int{1, 5, 256} { // at most 256 may be declared
			addOn := fixture.Registration("x")
			for i := range edges {
				addOn.Spec.Dependencies = append(addOn.Spec.Dependencies, fixture.Required(fmt.Sprintf("addon-%03d", i)))
			}
			c := evaluator(append(fixture.Registrations("base:"), addOn))
			observe := func(string) evaluation.Observation { return state.observed }
			b.Run(fmt.Sprintf("%s/edges=%d", state.name, edges), func(b *testing.B) {
				b.ReportAllocs()
				evaluated := c.State("x", cluster, observe)
				if findings := c.Evaluate("x", evaluated); len(findings) != edges {
					b.Fatalf("%d findings", len(findings))
				}
				for b.Loop() {
					decide(nil, c.Evaluate("x", evaluated), fixture.Now)
				}
				b.ReportMetric(float64(edges)*float64(b.N)/b.Elapsed().Seconds(), "edges/s")
			})
		}
	}
}

// BenchmarkEvaluateBeyond is the same with edges that ask for more than the
// proposal; all are satisfied.
func BenchmarkEvaluateBeyond(b *testing.B) {
	self := evaluation.Observation{
		Installed: true, Available: fixture.Available(metav1.ConditionTrue, ""), Version: "1.4.0", Config: map[string]string{"mode": "proxy"},
	}
	cluster := evaluation.Cluster{
		Available: metav1.ConditionTrue, Offline: evaluation.OfflineHold,
		Labels: map[string]string{"network": "private"}, KubernetesVersion: "v1.31.2-gke.100",
		Facts: evaluation.Facts{APIs: map[addonv1alpha1.AddonAPI]evaluation.APIFact{{Kind: "Pod"}: {Served: metav1.ConditionTrue}}},
	}
	observe := func(string) evaluation.Observation { return self }
	for _, kind := range []struct{ name, spec string }{
		{"plain", `dependencies: [{name: a}]`},
		{"version", `dependencies: [{name: a, version: ">= 1.0 < 2.0"}]`},
		{"api", `dependencies: [{name: a, api: {kind: Pod}}]`},
		{"alternatives", `dependencies: [{name: a, anyOf: [{addOn: b}, {addOn: c}]}]`},
		{"kubernetes", `requirements: {kubernetes: ">= 1.28"}`},
		{"selector", `dependencies: [{name: a, when: {clusterSelector: {matchLabels: {network: private}}}}]`},
		{"expression", `dependencies: [{name: a, when: {expression: "config.mode == 'proxy'"}}]`},
	} {
		c := evaluator([]addonv1alpha1.ClusterManagementAddOn{fixture.Specified(b, "x", kind.spec)})
		b.Run(kind.name, func(b *testing.B) {
			b.ReportAllocs()
			state := c.State("x", cluster, observe)
			for b.Loop() {
				if _, write := decide(nil, c.Evaluate("x", state), fixture.Now); write {
					b.Fatal("not satisfied")
				}
			}
		})
	}
}

// BenchmarkNewCatalog builds the catalog of a hub of 200 add-ons that depend
// on the five before them.
func BenchmarkNewCatalog(b *testing.B) {
	addOns := fixture.Registrations("addon-000:")
	for i := 1; i < 200; i++ {
		addOn := fixture.Registration(fmt.Sprintf("addon-%03d", i))
		for j := max(0, i-5); j < i; j++ {
			addOn.Spec.Dependencies = append(addOn.Spec.Dependencies, fixture.Required(fmt.Sprintf("addon-%03d", j)))
		}
		addOns = append(addOns, addOn)
	}
	b.ReportAllocs()
	for b.Loop() {
		evaluator(addOns)
	}
}

// BenchmarkConditional measures the work on a hub of 200 add-ons with 100 conditional edges each. Each edge can be on a
// cycle. 84 edges of an add-on have a selector, and as many as the schema allows have an expression.
func BenchmarkConditional(b *testing.B) {
	addOns := fixture.ConditionalHub(200, 100)
	start, candidate := addOns[:199], addOns[199]
	cluster := evaluation.Cluster{Available: metav1.ConditionTrue, Labels: map[string]string{"network": "private"}}
	observe := func(string) evaluation.Observation { return running("1.0.0") }
	b.Run("catalog", func(b *testing.B) {
		for b.Loop() {
			evaluator(addOns)
		}
	})
	b.Run("review", func(b *testing.B) {
		var reviewer review.Reviewer
		reviewer.Review(&start[0], nil, start)
		for b.Loop() {
			reviewer.Review(&candidate, nil, start)
		}
	})
	b.Run("problems", func(b *testing.B) {
		for b.Loop() {
			c := evaluator(addOns)
			for i := range addOns {
				c.Problems(addOns[i].Name)
			}
		}
	})
	b.Run("evaluate", func(b *testing.B) {
		c := evaluator(addOns)
		for b.Loop() {
			for i := range addOns {
				c.Evaluate(addOns[i].Name, c.State(addOns[i].Name, cluster, observe))
			}
		}
	})
}
