package declaration

import (
	"testing"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

func TestFieldOfAProblem(t *testing.T) {
	annotated := func(value string) addonv1alpha1.ClusterManagementAddOn {
		var addOn addonv1alpha1.ClusterManagementAddOn
		addOn.Annotations = map[string]string{addonv1alpha1.DependenciesAnnotation: value}
		return addOn
	}
	specified := func(spec addonv1alpha1.ClusterManagementAddOnSpec) addonv1alpha1.ClusterManagementAddOn {
		return addonv1alpha1.ClusterManagementAddOn{Spec: spec}
	}
	const annotation = "metadata.annotations[" + addonv1alpha1.DependenciesAnnotation + "]"
	for want, addOn := range map[string]addonv1alpha1.ClusterManagementAddOn{
		"spec.dependencies[1].version": specified(addonv1alpha1.ClusterManagementAddOnSpec{
			Dependencies: []addonv1alpha1.AddonDependency{{Name: "a"}, {Name: "b", Version: "newest"}},
		}),
		"spec.dependencies[0].name": specified(addonv1alpha1.ClusterManagementAddOnSpec{
			Dependencies: []addonv1alpha1.AddonDependency{{}}, Provides: []addonv1alpha1.AddonAPI{{}},
		}),
		"spec.requirements.claims[a.b/c]": specified(addonv1alpha1.ClusterManagementAddOnSpec{
			Requirements: &addonv1alpha1.AddonRequirements{Claims: map[string]addonv1alpha1.ClaimRequirement{"a.b/c": ""}},
		}),
		"spec.dependencies": specified(addonv1alpha1.ClusterManagementAddOnSpec{
			Dependencies: make([]addonv1alpha1.AddonDependency, 257),
		}),
		annotation + "[1].name": annotated("[{name: a}, {name: ''}]"),
		annotation:              annotated("no list"),
	} {
		declared := Read(&addOn)
		if len(declared.Problems) != 1 || declared.Problems[0].Field != want {
			t.Errorf("%s: %+v", want, declared.Problems)
		}
	}
}
