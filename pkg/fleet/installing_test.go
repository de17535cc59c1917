package fleet

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
)

func TestTemplateOf(t *testing.T) {
	config := func(group ocmv1alpha1.ConfigGroupResource, name string) []ocmv1alpha1.AddOnConfig {
		return []ocmv1alpha1.AddOnConfig{{ConfigGroupResource: group, ConfigReferent: ocmv1alpha1.ConfigReferent{Name: name}}}
	}
	settings := ocmv1alpha1.ConfigGroupResource{Group: ocmv1alpha1.GroupName, Resource: ResourceConfig}
	for name, test := range map[string]struct {
		own, placed []ocmv1alpha1.AddOnConfig
		standard    string
		want        Templates
	}{
		"none":          {want: Templates{}},
		"only settings": {own: config(settings, "x"), placed: config(settings, "y"), want: Templates{}},
		"own":           {own: config(declaration.Templates, "own"), want: Templates{Running: "own"}},
		"the default":   {standard: "standard", want: Templates{Running: "standard"}},
		"own before Placement": {
			own: config(declaration.Templates, "own"), placed: config(declaration.Templates, "placed"), standard: "standard",
			want: Templates{Running: "own"},
		},
		"template of a Placement": {placed: config(declaration.Templates, "placed"), standard: "standard", want: Templates{RollingOut: "placed"}},
		"settings of a Placement": {placed: config(settings, "placed"), standard: "standard", want: Templates{Running: "standard"}},
	} {
		addOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Name: "x"}}
		addOn.Spec.Configs = test.own
		registration := &addonv1alpha1.ClusterManagementAddOn{}
		registration.Spec.InstallStrategy.Type = ocmv1alpha1.AddonInstallStrategyPlacements
		registration.Spec.InstallStrategy.Placements = []ocmv1alpha1.PlacementStrategy{{}, {Configs: test.placed}}
		if test.standard != "" {
			//nolint:staticcheck // v1alpha1 has no other field for it
			registration.Spec.SupportedConfigs = []ocmv1alpha1.ConfigMeta{{
				ConfigGroupResource: declaration.Templates, DefaultConfig: &ocmv1alpha1.ConfigReferent{Name: test.standard},
			}}
		}
		template, ok := TemplateWithoutPlacements(addOn, registration)
		installing := addOn
		if template != "" {
			installing = WithRollout(addOn, template)
		}
		if template != "" && ok {
			installing = WithTemplate(addOn, template)
		}
		if got := TemplatesOf(installing); got != test.want {
			t.Errorf("%s: got %+v, want %+v", name, got, test.want)
		}
		if len(addOn.Status.ConfigReferences) > 0 {
			t.Errorf("%s: it changed the add-on", name)
		}
	}
}
