package install

import (
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"

	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
)

// configure finds the add-ons whose new ManagedClusterAddOns refer to the AddOnDeploymentConfig in which Interlock keeps settings. It returns
// why others get none that add-ons request. One that refers to an AddOnDeploymentConfig that no component creates would not be deployed.
func (o *options) configure(hub *snapshot.Snapshot) (unset map[string]string) {
	o.configured, unset = sets.New[string](), map[string]string{}
	for i := range hub.Registrations {
		registered := &hub.Registrations[i]
		switch name := registered.Name; {
		case !hub.Declared.IsSet(name):
		case name == o.addOn && len(o.settings) > 0:
			unset[name] = "--set gives it an AddOnDeploymentConfig of its own"
		case !fleet.TakesConfigs(registered):
			unset[name] = "its ClusterManagementAddOn does not list addondeploymentconfigs in spec.supportedConfigs"
		case !hub.RunsLifecycle():
			unset[name] = "no addon-manager is known to lead that runs with --lifecycle"
		default:
			o.configured.Insert(name)
		}
	}
	return unset
}

// configs are the configurations of a new ManagedClusterAddOn.
func (o *options) configs(addOn types.NamespacedName) []ocmv1alpha1.AddOnConfig {
	configs := o.choice.configs(addOn)
	if o.configured.Has(addOn.Name) {
		configs = append(configs, fleet.SettingsReference(addOn))
	}
	return configs
}
