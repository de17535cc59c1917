package evaluation

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
)

func TestTargetAndWhetherItIsAVictim(t *testing.T) {
	const rule = addonv1alpha1.AddonDegradedReasonRequiredDependencyNotSatisfied
	edge := &addonv1alpha1.AddonDependency{Name: "base"}
	alias := &addonv1alpha1.AddonDependency{Name: "tunnel", AddOn: "proxy"}
	api := &addonv1alpha1.AddonDependency{Name: "x", API: &addonv1alpha1.DependencyAPI{
		AddonAPI: addonv1alpha1.AddonAPI{Group: "g", Kind: "K", Version: "v1"},
	}}
	kubernetes := &declaration.Requirement{Name: "requirements.kubernetes"}
	for name, test := range map[string]struct {
		finding Finding
		target  string
		follows bool
	}{
		"unknown":          {Finding{Verdict: Held}, "", false},
		"not installed":    {Finding{Dependency: edge, Verdict: NotInstalled}, "base", false},
		"by its lease":     {Finding{Dependency: edge, Verdict: NotAvailable, Available: &metav1.Condition{Reason: "Stopped"}}, "base", false},
		"nothing reported": {Finding{Dependency: edge, Verdict: NotAvailable}, "base", false},
		"by its Degraded":  {Finding{Dependency: edge, Verdict: NotAvailable, Degraded: &metav1.Condition{}}, "base", true},
		"by the rule":      {Finding{Dependency: edge, Verdict: NotAvailable, Available: &metav1.Condition{Reason: rule}}, "base", true},
		"alias":            {Finding{Dependency: alias, Verdict: NotInstalled}, "proxy", false},
		"API":              {Finding{Dependency: api, Verdict: APINotServed}, "K.g/v1", false},
		"requirement":      {Finding{Requirement: kubernetes, Verdict: RequirementNotMet}, "requirements.kubernetes", false},
	} {
		if target, follows := test.finding.Target(), test.finding.Follows(); target != test.target || follows != test.follows {
			t.Errorf("%s: %q, %v", name, target, follows)
		}
	}
}
