package evaluation

import (
	"testing"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
)

// Every kind has a rule that describes its findings, and something that is of it.
func TestKindsAreComplete(t *testing.T) {
	seen := map[kind]bool{}
	for _, dependency := range []addonv1alpha1.AddonDependency{
		{Name: "a"},
		{Name: "a", Version: ">= 1"},
		{Name: "a", Type: "Conflicts"},
		{Name: "a", Type: "Conflicts", Version: ">= 1"},
		{Name: "a", API: &addonv1alpha1.DependencyAPI{AddonAPI: addonv1alpha1.AddonAPI{Kind: "Pod"}}},
		{Name: "a", AnyOf: []addonv1alpha1.DependencyAlternative{{AddOn: "b"}, {AddOn: "c"}}},
		{Name: "a", API: &addonv1alpha1.DependencyAPI{AddonAPI: addonv1alpha1.AddonAPI{Kind: "Pod"}, ServedBy: "Hub"}},
		{Name: "a", API: &addonv1alpha1.DependencyAPI{AddonAPI: addonv1alpha1.AddonAPI{Kind: "Pod"}, ServedBy: "HostingCluster"}},
	} {
		seen[dependencyKind(&dependency)] = true
	}
	for _, required := range []declaration.Requirement{{Subject: "Kubernetes version"}, {OCM: true}, {Claim: "region"}} {
		seen[requirementKind(&required)] = true
	}
	for k := range kinds {
		if !seen[k] {
			t.Errorf("nothing is of kind %d", k)
		}
		if k == kindAnyOf {
			continue // it has the inputs and findings of its alternatives
		}
		if rules[k].sentence == nil || rules[k].describe == nil {
			t.Errorf("kind %d has no sentence", k)
		}
		if rules[k].inputs == 0 && k != kindAddOn && k != kindConflict {
			t.Errorf("kind %d reads nothing", k)
		}
	}
}
