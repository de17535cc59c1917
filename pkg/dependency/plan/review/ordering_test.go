package review

import (
	"testing"

	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/test/fixture"
)

func TestUpgradesNotOrdered(t *testing.T) {
	const upgrades, annotation = "{ordering: InstallAndUpgrade}",
		"metadata.annotations[addon.open-cluster-management.io/dependencies].ordering"
	byField := func(spec string) addonv1alpha1.ClusterManagementAddOn { return fixture.Specified(t, "hello", spec) }
	placed := byField(upgrades)
	placed.Spec.InstallStrategy.Placements = []ocmv1alpha1.PlacementStrategy{
		{Configs: []ocmv1alpha1.AddOnConfig{{ConfigGroupResource: declaration.Templates}}},
	}
	configured := byField(upgrades)
	configured.Spec.SupportedConfigs = []ocmv1alpha1.ConfigMeta{ //nolint:staticcheck // v1alpha1 has no other field for it
		{ConfigGroupResource: ocmv1alpha1.ConfigGroupResource{Group: ocmv1alpha1.GroupName, Resource: "addondeploymentconfigs"}},
	}
	bundle := byField(upgrades)
	bundle.Annotations = map[string]string{addonv1alpha1.BundleAnnotation: "true"}
	for name, test := range map[string]struct {
		addOn addonv1alpha1.ClusterManagementAddOn
		field string // or empty without a judgement
	}{
		"own manager":             {byField(upgrades), "spec.ordering"},
		"by annotation":           {fixture.Annotated("hello", upgrades), annotation},
		"with other configs":      {configured, "spec.ordering"},
		"an AddOnTemplate":        {fixture.Deployed(byField(upgrades)), ""},
		"one on a Placement":      {placed, ""},
		"installations only":      {byField("{ordering: Install}"), ""},
		"no order":                {byField("{}"), ""},
		"a bundle":                {bundle, ""},
		"an invalid declaration":  {fixture.Annotated("hello", "{ordering: InstallAndUpgrade, dependencies: [{type: Required}]}"), ""},
		"an unreadable, as above": {fixture.Annotated("hello", "{ordering: InstallAndUpgrade"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			judgements := UpgradesNotOrdered(&test.addOn)
			if test.field == "" && len(judgements) == 0 {
				return
			}
			if len(judgements) != 1 || judgements[0].Field != test.field || judgements[0].Wrong || judgements[0].Rule != RuleUpgradesNotOrdered {
				t.Errorf("%+v", judgements)
			}
		})
	}
}
