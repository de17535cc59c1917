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
		name string
		said said
		want decision
	}{
		{"addon-manager: a Required dependency fails", said{degraded: degraded("True", "RequiredDependencyNotSatisfied", missing)}, decision{wait, missing}},
		{"addon-manager: only Optional ones fail", said{degraded: degraded("True", "DependencyNotSatisfied", "x")}, decision{step: install}},
		{"addon-manager: satisfied again", said{degraded: degraded("False", "DependenciesSatisfied", "x")}, decision{step: install}},
		{"its word counts, not a look that is older", said{degraded: degraded("False", "DependenciesSatisfied", "x"), unsatisfied: missing}, decision{step: install}},
		{"silence, all is there", said{}, decision{step: install}},
		{"silence, something is missing", said{unsatisfied: missing, age: 24 * time.Hour}, decision{askAgain, missing}},
		{"somebody else's Degraded is silence too", said{degraded: degraded("True", "DiskFull", "x"), unsatisfied: missing}, decision{askAgain, missing}},
		{"silence on a new add-on that requires more", said{beyond: true, age: silence - 1}, decision{askAgain, "Interlock's addon-manager has 30s to say whether the dependencies are satisfied."}},
		{"silence on an older one is consent", said{beyond: true, age: silence}, decision{step: install}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := decide(test.said); got != test.want {
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
		name  string
		given []metav1.Condition
		want  bool
	}{
		{"new", nil, false},
		{"waiting", []metav1.Condition{{Type: ConditionInstallable, Status: "False"}}, false},
		{"in order", []metav1.Condition{{Type: ConditionInstallable, Status: "True"}}, true},
		{"before it was ordered", applied("ManifestApplied", manifestsApplied, "True"), true},
		{"before it was ordered, hosted", applied("HostingManifestApplied", manifestsApplied, "True"), true},
		{"nothing was applied", applied("ManifestApplied", "no manifest need to apply", "True"), false},
		{"it failed", applied("ManifestApplied", "failed to apply the manifests of addon", "False"), false},
	} {
		if got := wasInstalled(test.given); got != test.want {
			t.Errorf("%s: %t", test.name, got)
		}
	}
}
