package fleet

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/versions"
)

// The resources of configs. Interlock uses one reference of an add-on to each.
const (
	ResourceConfig   = "addondeploymentconfigs"
	ResourceTemplate = "addontemplates"
)

// deploymentConfigs is the resource of AddOnDeploymentConfigs in references.
var deploymentConfigs = ocmv1alpha1.ConfigGroupResource{Group: ocmv1alpha1.GroupName, Resource: ResourceConfig}

// LeanReferences returns the references that ConfigOf, RefersToSettings and TemplatesOf read, without their deprecated referents.
func LeanReferences(references []ocmv1alpha1.ConfigReference) []ocmv1alpha1.ConfigReference {
	var kept []ocmv1alpha1.ConfigReference
	if config := firstReference(references, deploymentConfigs); config != nil && config.DesiredConfig != nil {
		kept = append(kept, ocmv1alpha1.ConfigReference{ConfigGroupResource: deploymentConfigs, DesiredConfig: leanConfig(config.DesiredConfig)})
	}
	if template := firstReference(references, declaration.Templates); template != nil {
		kept = append(kept, ocmv1alpha1.ConfigReference{
			ConfigGroupResource: declaration.Templates,
			DesiredConfig:       leanConfig(template.DesiredConfig),
			LastAppliedConfig:   leanConfig(template.LastAppliedConfig),
		})
	}
	return kept
}

// leanConfig returns a copy whose strings all objects share.
func leanConfig(full *ocmv1alpha1.ConfigSpecHash) *ocmv1alpha1.ConfigSpecHash {
	if full == nil {
		return nil
	}
	return &ocmv1alpha1.ConfigSpecHash{
		ConfigReferent: ocmv1alpha1.ConfigReferent{Namespace: shared(full.Namespace), Name: shared(full.Name)},
		SpecHash:       shared(full.SpecHash),
	}
}

// desiredConfig returns the AddOnDeploymentConfig that addon-framework passes to an add-on, or nil. It is the desired config of
// the first reference, unless that has no hash. See GetDesiredAddOnDeploymentConfig in pkg/utils of addon-framework 1.3.0.
func desiredConfig(references []ocmv1alpha1.ConfigReference) *ocmv1alpha1.ConfigSpecHash {
	first := firstReference(references, deploymentConfigs)
	if first == nil || first.DesiredConfig == nil || first.DesiredConfig.SpecHash == "" {
		return nil
	}
	return first.DesiredConfig
}

func firstReference(references []ocmv1alpha1.ConfigReference, resource ocmv1alpha1.ConfigGroupResource) *ocmv1alpha1.ConfigReference {
	for i := range references {
		if references[i].ConfigGroupResource == resource {
			return &references[i]
		}
	}
	return nil
}

// ConfigOf returns the key of the AddOnDeploymentConfig that addon-framework passes to
// the add-on, if any.
func ConfigOf(addOn *addonv1alpha1.ManagedClusterAddOn) (types.NamespacedName, bool) {
	config := desiredConfig(addOn.Status.ConfigReferences)
	if config == nil {
		return types.NamespacedName{}, false
	}
	return types.NamespacedName{Namespace: config.Namespace, Name: config.Name}, true
}

// SettingsConfigName returns the name of the AddOnDeploymentConfig that has the settings of an add-on, in the namespace of the
// managed cluster. Interlock writes it.
func SettingsConfigName(addOn string) string { return addonv1alpha1.SettingsConfigPrefix + addOn }

// RefersToSettings reports whether an add-on refers first to the AddOnDeploymentConfig in which Interlock keeps its settings. As long as
// that does not exist, its hash in the reference is empty.
func RefersToSettings(addOn *addonv1alpha1.ManagedClusterAddOn) bool {
	first := firstReference(addOn.Status.ConfigReferences, deploymentConfigs)
	return first != nil && first.DesiredConfig != nil &&
		first.DesiredConfig.Namespace == addOn.Namespace && first.DesiredConfig.Name == SettingsConfigName(addOn.Name)
}

// AwaitedConfig returns the AddOnDeploymentConfig to which an add-on refers first, if OCM has not found it. OCM deploys nothing then.
func AwaitedConfig(addOn *addonv1alpha1.ManagedClusterAddOn) (types.NamespacedName, bool) {
	first := firstReference(addOn.Status.ConfigReferences, deploymentConfigs)
	if first == nil || first.DesiredConfig == nil || first.DesiredConfig.SpecHash != "" || first.DesiredConfig.Name == "" {
		return types.NamespacedName{}, false
	}
	return types.NamespacedName{Namespace: first.DesiredConfig.Namespace, Name: first.DesiredConfig.Name}, true
}

// SettingsReference returns the reference of a ManagedClusterAddOn to that AddOnDeploymentConfig.
func SettingsReference(addOn types.NamespacedName) ocmv1alpha1.AddOnConfig {
	return ConfigReference(types.NamespacedName{Namespace: addOn.Namespace, Name: SettingsConfigName(addOn.Name)})
}

// ConfigReference returns the reference of a ManagedClusterAddOn to an AddOnDeploymentConfig.
func ConfigReference(config types.NamespacedName) ocmv1alpha1.AddOnConfig {
	return ocmv1alpha1.AddOnConfig{
		ConfigGroupResource: deploymentConfigs,
		ConfigReferent:      ocmv1alpha1.ConfigReferent{Namespace: config.Namespace, Name: config.Name},
	}
}

// DefaultConfig returns the AddOnDeploymentConfig that a registered add-on gets by default, if any.
func DefaultConfig(registered *addonv1alpha1.ClusterManagementAddOn) (types.NamespacedName, bool) {
	for _, config := range registered.Spec.SupportedConfigs { //nolint:staticcheck // v1alpha1 has no other field for it
		if isConfig(config.ConfigGroupResource) && config.DefaultConfig != nil {
			return types.NamespacedName{Namespace: config.DefaultConfig.Namespace, Name: config.DefaultConfig.Name}, true
		}
	}
	return types.NamespacedName{}, false
}

// TakesConfigs reports whether a registered add-on can refer to an AddOnDeploymentConfig.
func TakesConfigs(registered *addonv1alpha1.ClusterManagementAddOn) bool {
	//nolint:staticcheck // v1alpha1 has no other field for it
	return slices.ContainsFunc(registered.Spec.SupportedConfigs, func(config ocmv1alpha1.ConfigMeta) bool {
		return isConfig(config.ConfigGroupResource)
	})
}

func isConfig(resource ocmv1alpha1.ConfigGroupResource) bool { return resource == deploymentConfigs }

// KeepTakenConfigs adds the support for AddOnDeploymentConfigs with its default to a lean registration, if the full one has it. Only
// plans read it.
func KeepTakenConfigs(lean, full *addonv1alpha1.ClusterManagementAddOn) {
	for _, config := range full.Spec.SupportedConfigs { //nolint:staticcheck // v1alpha1 has no other field for it
		if isConfig(config.ConfigGroupResource) {
			lean.Spec.SupportedConfigs = append(lean.Spec.SupportedConfigs, config) //nolint:staticcheck // as above
			return
		}
	}
}

// Templates has the names of an add-on's AddOnTemplates on one managed cluster.
type Templates struct {
	// Running is the template that runs on the cluster. It is empty if there is none, or if it is unknown.
	Running string
	// RollingOut is the template that OCM rolls out there. It is empty outside a rollout.
	RollingOut string
}

// TemplatesOf returns the AddOnTemplates of an add-on. OCM removes lastAppliedConfig when a rollout to a template of
// another name begins, and keeps it with another hash if a template was edited in place. See mergeAddonConfig in
// pkg/addon/controllers/addonconfiguration of OCM 1.2.1. The running template is then unknown.
func TemplatesOf(addOn *addonv1alpha1.ManagedClusterAddOn) Templates {
	reference := firstReference(addOn.Status.ConfigReferences, declaration.Templates)
	if reference == nil {
		return Templates{}
	}
	var templates Templates
	desired, applied := reference.DesiredConfig, reference.LastAppliedConfig
	if desired != nil && (applied == nil || *desired != *applied) {
		templates.RollingOut = desired.Name
	}
	if applied != nil && (templates.RollingOut == "" || desired.Name != applied.Name) {
		templates.Running = applied.Name
	}
	return templates
}

// SameVersionSources reports whether the version of an add-on comes from the same
// annotations and templates in both of its states.
func SameVersionSources(a, b *addonv1alpha1.ManagedClusterAddOn) bool {
	return versions.In(a.Annotations) == versions.In(b.Annotations) && TemplatesOf(a) == TemplatesOf(b)
}
