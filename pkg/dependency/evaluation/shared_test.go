package evaluation

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"open-cluster-management.io/interlock/test/fixture"
)

// Satisfied findings are created once for all clusters. The usual evaluation allocates nothing, and a failing evaluation
// does not change them.
func TestSatisfiedFindingsAreShared(t *testing.T) {
	addOn := fixture.Registration("x")
	addOn.Spec.Dependencies = append(addOn.Spec.Dependencies, fixture.Required("a"), fixture.Required("b"))
	catalog := evaluator(append(fixture.Registrations("a:, b:"), addOn))
	up := Observation{Installed: true, Available: fixture.Available(metav1.ConditionTrue, "Tested")}
	cluster := Cluster{Available: metav1.ConditionTrue, Offline: OfflineHold}
	verdicts := func(observe func(string) Observation) (result []Verdict) {
		for _, finding := range catalog.Evaluate("x", catalog.State("x", cluster, observe)) {
			result = append(result, finding.Verdict)
		}
		return result
	}
	allUp := func(string) Observation { return up }
	onlyA := func(name string) Observation {
		if name == "a" {
			return up
		}
		return Observation{}
	}
	for range 2 {
		if diff := cmp.Diff([]Verdict{Satisfied, Satisfied}, verdicts(allUp)); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]Verdict{Satisfied, NotInstalled}, verdicts(onlyA)); diff != "" {
			t.Error(diff)
		}
	}
	state := catalog.State("x", cluster, allUp)
	if allocated := testing.AllocsPerRun(100, func() { catalog.Evaluate("x", state) }); allocated != 0 {
		t.Errorf("allocates %v times", allocated)
	}
}
