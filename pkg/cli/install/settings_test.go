package install

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/test/fixture"
)

// A created add-on and a printed one refer to the same AddOnDeploymentConfig, where a component keeps it.
func TestReferencesToSettings(t *testing.T) {
	const set = "dependencies: [{name: base, install: Auto, settings: {variables: [{name: mode, value: grpc}]}}]"
	taking := fixture.Specified(t, "base", "supportedConfigs: [{group: addon.open-cluster-management.io, resource: addondeploymentconfigs}]")
	for name, test := range map[string]struct {
		base      addonv1alpha1.ClusterManagementAddOn
		leaf      string
		lifecycle bool
		unset     string
		refers    bool
	}{
		"Set":         {taking, set, true, "", true},
		"NoLifecycle": {taking, set, false, "no addon-manager is known to lead that runs with --lifecycle", false},
		"TakesNone": {
			fixture.Specified(t, "base", "{}"), set, true,
			"its ClusterManagementAddOn does not list addondeploymentconfigs in spec.supportedConfigs", false,
		},
		"NotRequested": {taking, "dependencies: [{name: base}]", true, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			base := fleet.LeanRegistration(&test.base)
			fleet.KeepTakenConfigs(base, &test.base)
			content := snapshot.Content{
				Registrations: []addonv1alpha1.ClusterManagementAddOn{*base, fixture.Specified(t, "leaf", test.leaf)},
				Manager:       &snapshot.Manager{Lifecycle: test.lifecycle},
			}
			o := &options{}
			if got := o.configure(snapshot.New(content))["base"]; got != test.unset {
				t.Errorf("unset: %q", got)
			}
			key := types.NamespacedName{Namespace: "c1", Name: "base"}
			configs, printed := o.configs(key), o.references(key)
			if len(configs) != len(printed) || test.refers != (len(configs) == 1) {
				t.Fatalf("created with %v, printed with %v", configs, printed)
			}
			if test.refers && (configs[0].ConfigReferent != ocmv1alpha1.ConfigReferent{Namespace: "c1", Name: "interlock-base"} ||
				printed[0].Name != "interlock-base" || printed[0].Namespace != "c1") {
				t.Errorf("created with %v, printed with %v", configs, printed)
			}
		})
	}
}
