package condition

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/test/fixture"
)

// decide decides on Degraded where no condition of another writer was replaced.
func decide(stored *metav1.Condition, findings []evaluation.Finding, now metav1.Time) (metav1.Condition, bool) {
	if desired := Decide(Stored{Degraded: stored}, findings, now).Degraded; desired != nil {
		return *desired, true
	}
	return metav1.Condition{}, false
}

// Another writer's Degraded=True that Interlock replaces is kept as a condition of its own, so that no message is read.
func TestReplaced(t *testing.T) {
	const (
		isTrue, isFalse = metav1.ConditionTrue, metav1.ConditionFalse

		mustText = "Required addon 'must' is not installed or not available. (not installed)"
		mayText  = "Optional addon 'may' is not installed or not available. (not installed)"
		tail     = "; also Degraded: DiskFull: 3 of 3 disks"
	)
	must := evaluation.Finding{Dependency: fixture.EdgeOn(fixture.Required("must")), Verdict: evaluation.NotInstalled}
	may := evaluation.Finding{Dependency: fixture.EdgeOn(fixture.Optional("may")), Verdict: evaluation.NotInstalled}
	fine := evaluation.Finding{Dependency: fixture.EdgeOn(fixture.Required("fine")), Verdict: evaluation.Satisfied}
	held := evaluation.Finding{Dependency: fixture.EdgeOn(fixture.Required("must")), Verdict: evaluation.Held}
	replaced := func(status metav1.ConditionStatus, reason, message string) *metav1.Condition {
		made := fixture.Degraded(status, reason, message)
		made.Type = addonv1alpha1.ManagedClusterAddOnConditionReplacedDegraded
		return made
	}
	foreign, kept := fixture.Degraded(isTrue, "DiskFull", "3 of 3 disks"), replaced(isTrue, "DiskFull", "3 of 3 disks")
	ended := withTime(replaced(isFalse, addonv1alpha1.AddonReasonNothingReplaced, ""), fixture.Now)
	ours := fixture.Degraded(isTrue, requiredReason, mustText+tail)
	satisfied := withTime(fixture.Degraded(isFalse, satisfiedReason, satisfiedMessage+"."), fixture.Now)
	long := strings.Repeat("é", MaxMessage)
	type findings = []evaluation.Finding
	for name, test := range map[string]struct {
		stored   Stored
		findings findings
		// Each is nil where the stored one stays.
		degraded, replaced *metav1.Condition
	}{
		"it is replaced": {Stored{Degraded: foreign}, findings{must}, ours, kept},
		"it is kept":     {Stored{ours, kept}, findings{must}, nil, nil},
		"the message changes": {
			Stored{ours, kept}, findings{must, may}, fixture.Degraded(isTrue, requiredReason, mustText+"; "+mayText+tail), nil,
		},
		"the reason changes": {
			Stored{ours, kept},
			findings{may},
			fixture.Degraded(isTrue, "DependencyNotSatisfied", mayText+tail),
			nil,
		},
		"the dependency is back":                   {Stored{ours, kept}, findings{fine}, satisfied, ended},
		"it has ended, and another writer owns it": {Stored{satisfied, kept}, findings{fine}, nil, ended},
		"it has ended":                             {Stored{satisfied, ended}, findings{fine}, nil, nil},
		"it fails again after an end": {
			Stored{satisfied, ended},
			findings{must},
			withTime(fixture.Degraded(isTrue, requiredReason, mustText), fixture.Now),
			nil,
		},
		"the other writer insists": {
			Stored{fixture.Degraded(isTrue, "DiskFull", "4 of 4"), kept},
			findings{must},
			fixture.Degraded(isTrue, requiredReason, mustText+"; also Degraded: DiskFull: 4 of 4"), replaced(isTrue, "DiskFull", "4 of 4"),
		},
		"the other writer insists on what is fine":   {Stored{foreign, kept}, findings{fine}, nil, ended},
		"the other writer insists, nothing is known": {Stored{foreign, kept}, findings{held}, nil, ended},
		"the other writer is well":                   {Stored{fixture.Degraded(isFalse, "Healthy", ""), kept}, nil, nil, ended},
		"nothing is known":                           {Stored{ours, kept}, findings{held}, nil, nil},
		"a reason alone": {
			Stored{Degraded: fixture.Degraded(isTrue, "X", "")},
			findings{must},
			fixture.Degraded(isTrue, requiredReason, mustText+"; also Degraded: X"),
			replaced(isTrue, "X", ""),
		},
		"its words are not Interlock's, also with our mark": {
			Stored{Degraded: fixture.Degraded(isTrue, "X", "m; also Degraded: y\nz")},
			findings{must},
			fixture.Degraded(isTrue, requiredReason, mustText+"; also Degraded: X: m; also Degraded: y z"),
			replaced(isTrue, "X", "m; also Degraded: y\nz"),
		},
		"a long message": {
			Stored{Degraded: fixture.Degraded(isTrue, "X", long)},
			findings{must},
			fixture.Degraded(isTrue, requiredReason, mustText+"; also Degraded: X: "+strings.Repeat("é", maxForeign-len("X: ")-1)+"…"),
			replaced(isTrue, "X", long),
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := Decide(test.stored, test.findings, fixture.Now)
			if diff := cmp.Diff(test.degraded, got.Degraded); diff != "" {
				t.Errorf("Degraded (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.replaced, got.Replaced); diff != "" {
				t.Errorf("ReplacedDegraded (-want +got):\n%s", diff)
			}
			if strings.Contains(got.Own.Message, "also Degraded") {
				t.Errorf("own message %q", got.Own.Message)
			}
		})
	}
}
