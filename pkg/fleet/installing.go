package fleet

import (
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
)

// Installing returns an add-on as it is once OCM has installed it as its spec says: with the AddOnTemplate that OCM will
// have chosen. Of the registration it reads the install strategy and supported configs. It changes neither.
func Installing(addOn *addonv1alpha1.ManagedClusterAddOn, of *addonv1alpha1.ClusterManagementAddOn) *addonv1alpha1.ManagedClusterAddOn {
	template, known := templateOf(addOn, of)
	if template == "" {
		return addOn
	}
	// Without lastAppliedConfig, it is not known what runs.
	reference := ocmv1alpha1.ConfigReference{
		ConfigGroupResource: declaration.Templates,
		DesiredConfig:       &ocmv1alpha1.ConfigSpecHash{ConfigReferent: ocmv1alpha1.ConfigReferent{Name: template}},
	}
	if known {
		reference.LastAppliedConfig = reference.DesiredConfig.DeepCopy()
	}
	installed := addOn.DeepCopy()
	installed.Status.ConfigReferences = append([]ocmv1alpha1.ConfigReference{reference}, addOn.Status.ConfigReferences...)
	return installed
}

// templateOf returns the AddOnTemplate that OCM chooses: that of the add-on, else that of a Placement, else the default of
// the registration. Which Placement selects the cluster is not read: if any has a template, it is not known which one runs.
func templateOf(addOn *addonv1alpha1.ManagedClusterAddOn, of *addonv1alpha1.ClusterManagementAddOn) (name string, known bool) {
	if own := OwnTemplate(addOn); own != "" {
		return own, true
	}
	for _, placement := range of.Spec.InstallStrategy.Placements {
		if template := configuredTemplate(placement.Configs); template != "" {
			return template, false
		}
	}
	//nolint:staticcheck // v1alpha1 has no other field for it
	for _, supported := range of.Spec.SupportedConfigs {
		if supported.ConfigGroupResource == declaration.Templates && supported.DefaultConfig != nil {
			return supported.DefaultConfig.Name, true
		}
	}
	return "", true
}

// OwnTemplate is the AddOnTemplate that the spec of the add-on names; empty: none.
func OwnTemplate(addOn *addonv1alpha1.ManagedClusterAddOn) string {
	return configuredTemplate(addOn.Spec.Configs)
}

func configuredTemplate(configs []ocmv1alpha1.AddOnConfig) string {
	for _, config := range configs {
		if config.ConfigGroupResource == declaration.Templates {
			return config.Name
		}
	}
	return ""
}
