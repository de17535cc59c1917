package catalog

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/test/fixture"
)

const (
	runsV1   = `supportedConfigs: [{group: addon.open-cluster-management.io, resource: addontemplates, defaultConfig: {name: v1}}]`
	runsV2   = `supportedConfigs: [{group: addon.open-cluster-management.io, resource: addontemplates, defaultConfig: {name: v2}}]`
	placesV2 = runsV1 + `
installStrategy:
  type: Placements
  placements: [{namespace: ns, name: p, configs: [{group: addon.open-cluster-management.io, resource: addontemplates, name: v2}]}]`
)

func TestBundle(t *testing.T) {
	for name, test := range map[string]struct {
		annotation, spec string
		want             bool
	}{
		"Is": {"true", `{}`, true}, "IsNot": {"false", `{}`, false}, "NotSaid": {"", `{}`, false}, "HasAnAgent": {"true", runsV1, false},
	} {
		registered := fixture.Specified(t, "x", test.spec)
		metav1.SetMetaDataAnnotation(&registered.ObjectMeta, addonv1alpha1.BundleAnnotation, test.annotation)
		if got := New([]addonv1alpha1.ClusterManagementAddOn{registered}).Install("x").Bundle; got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// An add-on is evaluated again where Interlock acts on it in another way, and its dependents are not.
func TestChangesOfBundlesAndTemplates(t *testing.T) {
	const ordered = "\nordering: InstallAndUpgrade"
	registration := func(spec, bundle string) addonv1alpha1.ClusterManagementAddOn {
		registered := fixture.Specified(t, "base", spec)
		metav1.SetMetaDataAnnotation(&registered.ObjectMeta, addonv1alpha1.BundleAnnotation, bundle)
		return registered
	}
	for name, test := range map[string]struct {
		previous, current addonv1alpha1.ClusterManagementAddOn
		want              []string
		equal             bool
	}{
		"Same":              {registration(`{}`, "true"), registration(`{}`, "true"), nil, true},
		"ABundle":           {registration(`{}`, ""), registration(`{}`, "true"), []string{"base"}, false},
		"ABundleNoMore":     {registration(`{}`, "true"), registration(`{}`, "false"), []string{"base"}, false},
		"AnotherDefault":    {registration(runsV1+ordered, ""), registration(runsV2+ordered, ""), []string{"base"}, false},
		"OfAPlacement":      {registration(runsV1+ordered, ""), registration(placesV2+ordered, ""), []string{"base"}, false},
		"NotOrdered":        {registration(runsV1, ""), registration(runsV2, ""), nil, false},
		"OnlyInstallations": {registration(runsV1+"\nordering: Install", ""), registration(runsV2+"\nordering: Install", ""), nil, false},
	} {
		dependent := fixture.Registration("x", fixture.Required("base"))
		previous := New([]addonv1alpha1.ClusterManagementAddOn{dependent, test.previous})
		current := New([]addonv1alpha1.ClusterManagementAddOn{dependent, test.current})
		if got := current.Changed(previous); !slices.Equal(got, test.want) || SameRegistration(&test.previous, &test.current) != test.equal {
			t.Errorf("%s: %q, the same: %t", name, got, SameRegistration(&test.previous, &test.current))
		}
		if reworded := current.Reworded(previous); name != "OfAPlacement" && len(reworded) > 0 {
			t.Errorf("%s: dependents are evaluated again: %q", name, reworded)
		}
	}
}
