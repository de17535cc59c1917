package cause

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/test/fixture"
)

// An edge without a satisfied alternative has the causes of each alternative, except an alternative that waits for the dependent.
func TestCausesOfAlternatives(t *testing.T) {
	e := evaluation.New(catalog.New(append(
		fixture.Registrations("broken: gone, back: x, missing:, gone:"),
		fixture.Specified(t, "x", "dependencies: [{name: any, anyOf: [{addOn: broken}, {addOn: back}, {addOn: missing}, {api: {kind: Pod}}]}]"),
	)))
	cluster := evaluation.Cluster{Facts: evaluation.Facts{APIs: evaluation.APIFacts{{Kind: "Pod"}: {Served: metav1.ConditionFalse}}}}
	up := evaluation.Observation{Installed: true, Available: fixture.Available(metav1.ConditionTrue, "")}
	follows := up
	follows.Degraded = fixture.Degraded(metav1.ConditionTrue, addonv1alpha1.AddonDegradedReasonRequiredDependencyNotSatisfied, "")
	installed := map[string]evaluation.Observation{"x": up, "broken": follows, "back": up}
	var got []string
	for _, path := range Paths("x", func(addOn string) []evaluation.Finding {
		return e.Evaluate(addOn, e.State(addOn, cluster, func(name string) evaluation.Observation { return installed[name] }))
	}) {
		got = append(got, path.Root().AddOn+": "+path.Root().Cause().String())
	}
	if diff := cmp.Diff([]string{"x: missing is not installed", "x: Pod is not served", "broken: gone is not installed"}, got); diff != "" {
		t.Error(diff)
	}
}
