package dependent

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func degraded(status metav1.ConditionStatus, reason, message string) *metav1.Condition {
	return &metav1.Condition{Type: "Degraded", Status: status, Reason: reason, Message: message}
}

func TestDecide(t *testing.T) {
	const missing = "Required addon 'a' is not installed or not available. (not installed)"
	for _, test := range []struct {
		name   string
		inputs inputs
		want   decision
	}{
		{
			"addon-manager: a Required dependency fails",
			inputs{degraded: degraded("True", "RequiredDependencyNotSatisfied", missing)},
			decision{wait, missing},
		},
		{"addon-manager: only Optional ones fail", inputs{degraded: degraded("True", "DependencyNotSatisfied", "x")}, decision{step: install}},
		{"addon-manager: satisfied again", inputs{degraded: degraded("False", "DependenciesSatisfied", "x")}, decision{step: install}},
		{
			"its condition counts, not an older evaluation",
			inputs{degraded: degraded("False", "DependenciesSatisfied", "x"), unsatisfied: missing},
			decision{step: install},
		},
		{"not evaluated yet, satisfied", inputs{}, decision{step: install}},
		{"not evaluated yet, a dependency is missing", inputs{unsatisfied: missing, age: 24 * time.Hour}, decision{retry, missing}},
		{
			"Degraded of another writer does not count",
			inputs{degraded: degraded("True", "DiskFull", "x"), unsatisfied: missing},
			decision{retry, missing},
		},
		{
			"not evaluated yet, a new add-on with other requirements",
			inputs{incomplete: true, age: evaluationTime - 1},
			decision{retry, "Interlock's addon-manager has 30s to evaluate the dependencies."},
		},
		{"not evaluated, an older add-on with other requirements", inputs{incomplete: true, age: evaluationTime}, decision{step: install}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := decide(test.inputs); got != test.want {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}

func TestWasInstalled(t *testing.T) {
	applied := func(kind, message string, status metav1.ConditionStatus) []metav1.Condition {
		return []metav1.Condition{{Type: kind, Status: status, Reason: "AddonManifestApplied", Message: message}}
	}
	for _, test := range []struct {
		name       string
		conditions []metav1.Condition
		want       bool
	}{
		{"new", nil, false},
		{"waiting", []metav1.Condition{{Type: ConditionInstallable, Status: "False"}}, false},
		{"in order", []metav1.Condition{{Type: ConditionInstallable, Status: "True"}}, true},
		{"before it was ordered", applied("ManifestApplied", "manifests of addon are applied successfully", "True"), true},
		{"before it was ordered, hosted", applied("HostingManifestApplied", "manifests of addon are applied successfully", "True"), true},
		{
			"nothing was applied while it waits",
			append(applied("ManifestApplied", "no manifest need to apply", "True"), metav1.Condition{Type: ConditionInstallable, Status: "False"}),
			false,
		},
		{"it failed", applied("ManifestApplied", "failed to apply the manifests of addon", "False"), false},
	} {
		if got := wasInstalled(test.conditions); got != test.want {
			t.Errorf("%s: %t", test.name, got)
		}
	}
}
