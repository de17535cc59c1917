package cli

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// TestImpactOfAnotherOCM tests another version of OCM. It breaks the add-ons that do not accept it, and the dependents of an add-on that
// has the version of OCM.
func TestImpactOfAnotherOCM(t *testing.T) {
	content := hub()
	content.OCMVersion, content.FactsNotServed = "1.3.1", true
	for i := range content.Registrations {
		switch registered := &content.Registrations[i]; registered.Name {
		case "managed-serviceaccount":
			metav1.SetMetaDataAnnotation(&registered.ObjectMeta, addonv1alpha1.AddOnVersionAnnotation, "@ocm")
		case "cluster-gateway":
			registered.Spec.Requirements = &addonv1alpha1.AddonRequirements{OCM: "< 1.5"}
			registered.Spec.Dependencies[0].Version = "< 1.4"
		}
	}
	fleet := file(t, content)
	for command, want := range map[string]struct {
		printed []string
		breaks  bool
	}{
		"impact --ocm 1.3.9": {[]string{"No dependency would become unsatisfied."}, false},
		"impact --ocm 1.4.0": {[]string{"cluster-gateway managed-serviceaccount Required Satisfied VersionMismatch 19: cluster31,"}, true},
		"preflight --ocm 1.5.0": {[]string{
			"cluster-gateway managed-serviceaccount Required Satisfied VersionMismatch 19: cluster31,",
			"cluster-gateway requirements.ocm Required Satisfied RequirementNotMet 49: cluster01,",
		}, true},
		"impact --ocm 1.5.0 -n cluster40 -o jsonpath={.items[*].edge}": {[]string{"managed-serviceaccount requirements.ocm"}, true},
	} {
		t.Run(command, func(t *testing.T) {
			got := strings.Join(strings.Fields(run(t, append(strings.Fields(command), "--from", fleet)...)), " ")
			for _, line := range want.printed {
				if !strings.Contains(got, line) {
					t.Errorf("no %q in\n%s", line, got)
				}
			}
			if breaks := strings.Contains(got, "exit code 1"); breaks != want.breaks {
				t.Errorf("breaks: %t\n%s", breaks, got)
			}
		})
	}
}
