package fleet

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
)

// WithTemplate returns a copy of the add-on as it is after OCM has rolled out the AddOnTemplate.
func WithTemplate(addOn *addonv1alpha1.ManagedClusterAddOn, template string) *addonv1alpha1.ManagedClusterAddOn {
	config := &ocmv1alpha1.ConfigSpecHash{ConfigReferent: ocmv1alpha1.ConfigReferent{Name: template}}
	return withReference(addOn, ocmv1alpha1.ConfigReference{
		ConfigGroupResource: declaration.Templates, DesiredConfig: config, LastAppliedConfig: config,
	})
}

// WithRollout returns a copy of the add-on as it is while OCM rolls out the AddOnTemplate. The running template is unknown then.
func WithRollout(addOn *addonv1alpha1.ManagedClusterAddOn, template string) *addonv1alpha1.ManagedClusterAddOn {
	config := &ocmv1alpha1.ConfigSpecHash{ConfigReferent: ocmv1alpha1.ConfigReferent{Name: template}}
	return withReference(addOn, ocmv1alpha1.ConfigReference{ConfigGroupResource: declaration.Templates, DesiredConfig: config})
}

// withReference returns a copy of the add-on whose reference to an AddOnTemplate is replaced.
func withReference(addOn *addonv1alpha1.ManagedClusterAddOn, reference ocmv1alpha1.ConfigReference) *addonv1alpha1.ManagedClusterAddOn {
	installed := addOn.DeepCopy()
	configs := slices.DeleteFunc(installed.Status.ConfigReferences, func(r ocmv1alpha1.ConfigReference) bool {
		return r.ConfigGroupResource == declaration.Templates
	})
	installed.Status.ConfigReferences = append([]ocmv1alpha1.ConfigReference{reference}, configs...)
	return installed
}

// Selecting returns a function that reports whether a Placement selects a cluster. The bool is false if its decisions are unknown.
type Selecting func(placement types.NamespacedName) (func(cluster string) bool, bool)

// TemplateOf returns the AddOnTemplate that OCM chooses for an add-on. The add-on's own reference takes precedence over the
// template of the Placement that selects its cluster, and that over the default of its registration. The name is empty if there
// is no template. The bool is false if the template is unknown, such as where several Placements select the cluster and do not agree.
func TemplateOf(
	addOn *addonv1alpha1.ManagedClusterAddOn, registration *addonv1alpha1.ClusterManagementAddOn, selecting Selecting,
) (string, bool) {
	if own := OwnTemplate(addOn); own != "" {
		return own, true
	}
	if !PlacesTemplates(registration) {
		return DefaultTemplate(registration), true
	}
	var placed []string
	for _, placement := range registration.Spec.InstallStrategy.Placements {
		template := configuredTemplate(placement.Configs)
		selects, ok := selecting(types.NamespacedName{Namespace: placement.Namespace, Name: placement.Name})
		if !ok {
			return template, false
		}
		if selects(addOn.Namespace) {
			placed = append(placed, template)
		}
	}
	placed = slices.Compact(placed)
	switch {
	case len(placed) > 1:
		return placed[0], false
	case len(placed) == 1 && placed[0] != "":
		return placed[0], true
	}
	return DefaultTemplate(registration), true
}

// TemplateWithoutPlacements is TemplateOf without the decisions of Placements. The template of a Placement is then a guess, and
// the bool is false.
func TemplateWithoutPlacements(
	addOn *addonv1alpha1.ManagedClusterAddOn, registration *addonv1alpha1.ClusterManagementAddOn,
) (string, bool) {
	if own := OwnTemplate(addOn); own != "" {
		return own, true
	}
	if PlacesTemplates(registration) {
		for _, placement := range registration.Spec.InstallStrategy.Placements {
			if template := configuredTemplate(placement.Configs); template != "" {
				return template, false
			}
		}
	}
	return DefaultTemplate(registration), true
}

// PlacesTemplates reports whether OCM takes AddOnTemplates of the add-on from its Placements. OCM ignores the configurations
// of Placements if another component or a user installs the add-on.
func PlacesTemplates(registration *addonv1alpha1.ClusterManagementAddOn) bool {
	if !catalog.InstallOf(registration).Placed {
		return false
	}
	return slices.ContainsFunc(registration.Spec.InstallStrategy.Placements, func(placement ocmv1alpha1.PlacementStrategy) bool {
		return configuredTemplate(placement.Configs) != ""
	})
}

// SameTemplates reports whether OCM chooses the same AddOnTemplates for two states of a registration, if the Placements select
// the same clusters.
func SameTemplates(a, b *addonv1alpha1.ClusterManagementAddOn) bool {
	if DefaultTemplate(a) != DefaultTemplate(b) || PlacesTemplates(a) != PlacesTemplates(b) {
		return false
	}
	return !PlacesTemplates(a) || slices.EqualFunc(a.Spec.InstallStrategy.Placements, b.Spec.InstallStrategy.Placements,
		func(a, b ocmv1alpha1.PlacementStrategy) bool {
			return a.PlacementRef == b.PlacementRef && configuredTemplate(a.Configs) == configuredTemplate(b.Configs)
		})
}

// DefaultTemplate returns the AddOnTemplate that the registration names for add-ons without another one. It is empty if there is none.
func DefaultTemplate(registration *addonv1alpha1.ClusterManagementAddOn) string {
	//nolint:staticcheck // v1alpha1 has no other field for it
	for _, supported := range registration.Spec.SupportedConfigs {
		if supported.ConfigGroupResource == declaration.Templates && supported.DefaultConfig != nil {
			return supported.DefaultConfig.Name
		}
	}
	return ""
}

// OwnTemplate returns the AddOnTemplate that the spec of the add-on names. It is empty if there is none.
func OwnTemplate(addOn *addonv1alpha1.ManagedClusterAddOn) string {
	return configuredTemplate(addOn.Spec.Configs)
}

func onlyTemplates(configs []ocmv1alpha1.AddOnConfig) []ocmv1alpha1.AddOnConfig {
	template := configuredTemplate(configs)
	if template == "" {
		return nil
	}
	return []ocmv1alpha1.AddOnConfig{{
		ConfigGroupResource: declaration.Templates, ConfigReferent: ocmv1alpha1.ConfigReferent{Name: template},
	}}
}

func configuredTemplate(configs []ocmv1alpha1.AddOnConfig) string {
	for _, config := range configs {
		if config.ConfigGroupResource == declaration.Templates {
			return config.Name
		}
	}
	return ""
}
