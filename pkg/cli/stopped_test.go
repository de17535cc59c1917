package cli

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
)

// TestReasonOfStoppedInstallationIsShown tests that the plugin shows the reason why an installation by an edge is stopped. The reason
// of a wait is only in the stored condition, which is shown as it is.
func TestReasonOfStoppedInstallationIsShown(t *testing.T) {
	requestingInstallation := func() snapshot.Content {
		content := small("a: b, b", "a")
		content.Registrations[0].Spec.Dependencies[0].Install = addonv1alpha1.DependencyInstallAuto
		content.Registrations[1].Annotations = map[string]string{addonv1alpha1.InstallOnDemandAnnotation: "true"}
		content.Registrations[1].Spec.InstallStrategy.Type = ocmv1alpha1.AddonInstallStrategyManual
		return content
	}
	const (
		denies = "installations on this cluster are denied by AddOnDependencyPolicy 'frozen'"
		waits  = "install: Auto waits for an approval"
	)
	denied := requestingInstallation()
	policy := dependencyv1alpha1.AddOnDependencyPolicy{ObjectMeta: metav1.ObjectMeta{Name: "frozen"}}
	policy.Spec.Install = dependencyv1alpha1.InstallDeny
	denied.Policies = append(denied.Policies, policy)

	waiting := requestingInstallation()
	waiting.AddOns[0].Status.Conditions = []metav1.Condition{{
		Type: addonv1alpha1.ManagedClusterAddOnConditionDegraded, Status: metav1.ConditionTrue,
		Reason: addonv1alpha1.AddonDegradedReasonRequiredDependencyNotSatisfied,
		Message: "Required addon 'b' is not installed or not available. (not installed: its install strategy is Manual; " +
			evaluation.WaitForApproval.Explanation("b") + ")",
	}}
	for name, test := range map[string]struct {
		content snapshot.Content
		want    string
	}{"denied": {denied, denies}, "waiting": {waiting, waits}} {
		for _, command := range []string{"why", "why a -n c1"} {
			got := strings.Join(strings.Fields(run(t, append(strings.Fields(command), "--from", file(t, test.content))...)), " ")
			if !strings.Contains(strings.ReplaceAll(got, " │ ", " "), test.want) {
				t.Errorf("%s, %s: no %q in\n%s", name, command, test.want, got)
			}
		}
	}
}
