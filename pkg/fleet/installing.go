package fleet

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
)

// WithTemplate returns an add-on as it is once OCM has rolled an AddOnTemplate out. It does not change the add-on.
func WithTemplate(addOn *addonv1alpha1.ManagedClusterAddOn, template string) *addonv1alpha1.ManagedClusterAddOn {
	config := &ocmv1alpha1.ConfigSpecHash{ConfigReferent: ocmv1alpha1.ConfigReferent{Name: template}}
	return withReference(addOn, ocmv1alpha1.ConfigReference{
		ConfigGroupResource: declaration.Templates, DesiredConfig: config, LastAppliedConfig: config,
	})
}

// WithRollout returns an add-on as it is while OCM rolls an AddOnTemplate out: it is not known what runs. It does not
// change the add-on.
func WithRollout(addOn *addonv1alpha1.ManagedClusterAddOn, template string) *addonv1alpha1.ManagedClusterAddOn {
	config := &ocmv1alpha1.ConfigSpecHash{ConfigReferent: ocmv1alpha1.ConfigReferent{Name: template}}
	return withReference(addOn, ocmv1alpha1.ConfigReference{ConfigGroupResource: declaration.Templates, DesiredConfig: config})
}

// withReference returns an add-on with another reference to an AddOnTemplate.
func withReference(addOn *addonv1alpha1.ManagedClusterAddOn, reference ocmv1alpha1.ConfigReference) *addonv1alpha1.ManagedClusterAddOn {
	installed := addOn.DeepCopy()
	others := slices.DeleteFunc(installed.Status.ConfigReferences, func(one ocmv1alpha1.ConfigReference) bool {
		return one.ConfigGroupResource == declaration.Templates
	})
	installed.Status.ConfigReferences = append([]ocmv1alpha1.ConfigReference{reference}, others...)
	return installed
}

// Selecting returns the clusters that a Placement selects; known is false where that is not known.
type Selecting func(placement types.NamespacedName) (selects func(cluster string) bool, known bool)

// TemplateOf returns the AddOnTemplate that OCM chooses for an add-on: the one that it names, else that of the Placement
// that selects its cluster, else the default of its registration; empty: none. It is not known where several Placements
// select the cluster and do not agree.
func TemplateOf(
	addOn *addonv1alpha1.ManagedClusterAddOn, of *addonv1alpha1.ClusterManagementAddOn, selecting Selecting,
) (name string, known bool) {
	if own := OwnTemplate(addOn); own != "" {
		return own, true
	}
	if !PlacesTemplates(of) {
		return DefaultTemplate(of), true
	}
	var placed []string
	for _, placement := range of.Spec.InstallStrategy.Placements {
		template := configuredTemplate(placement.Configs)
		selects, known := selecting(types.NamespacedName{Namespace: placement.Namespace, Name: placement.Name})
		if !known {
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
	return DefaultTemplate(of), true
}

// TemplateWithoutPlacements is TemplateOf where it is not known what any Placement selects: the template of a Placement
// is then a guess.
func TemplateWithoutPlacements(
	addOn *addonv1alpha1.ManagedClusterAddOn, of *addonv1alpha1.ClusterManagementAddOn,
) (name string, known bool) {
	if own := OwnTemplate(addOn); own != "" {
		return own, true
	}
	if PlacesTemplates(of) {
		for _, placement := range of.Spec.InstallStrategy.Placements {
			if template := configuredTemplate(placement.Configs); template != "" {
				return template, false
			}
		}
	}
	return DefaultTemplate(of), true
}

// PlacesTemplates reports whether OCM takes AddOnTemplates of the add-on from its Placements. Where another component
// installs the add-on, or its user does, the configurations of Placements do not count.
func PlacesTemplates(of *addonv1alpha1.ClusterManagementAddOn) bool {
	return catalog.InstallOf(of).Placed && slices.ContainsFunc(of.Spec.InstallStrategy.Placements, func(one ocmv1alpha1.PlacementStrategy) bool {
		return configuredTemplate(one.Configs) != ""
	})
}

// SameTemplates reports whether OCM chooses the same AddOnTemplates with two states of a registration, as long as the
// Placements select the same.
func SameTemplates(a, b *addonv1alpha1.ClusterManagementAddOn) bool {
	if DefaultTemplate(a) != DefaultTemplate(b) || PlacesTemplates(a) != PlacesTemplates(b) {
		return false
	}
	return !PlacesTemplates(a) || slices.EqualFunc(a.Spec.InstallStrategy.Placements, b.Spec.InstallStrategy.Placements,
		func(a, b ocmv1alpha1.PlacementStrategy) bool {
			return a.PlacementRef == b.PlacementRef && configuredTemplate(a.Configs) == configuredTemplate(b.Configs)
		})
}

// DefaultTemplate is the AddOnTemplate of an add-on where nothing else names one; empty: none.
func DefaultTemplate(of *addonv1alpha1.ClusterManagementAddOn) string {
	//nolint:staticcheck // v1alpha1 has no other field for it
	for _, supported := range of.Spec.SupportedConfigs {
		if supported.ConfigGroupResource == declaration.Templates && supported.DefaultConfig != nil {
			return supported.DefaultConfig.Name
		}
	}
	return ""
}

// OwnTemplate is the AddOnTemplate that the spec of the add-on names; empty: none.
func OwnTemplate(addOn *addonv1alpha1.ManagedClusterAddOn) string {
	return configuredTemplate(addOn.Spec.Configs)
}

func onlyTemplates(configs []ocmv1alpha1.AddOnConfig) (only []ocmv1alpha1.AddOnConfig) {
	if template := configuredTemplate(configs); template != "" {
		only = append(only, ocmv1alpha1.AddOnConfig{
			ConfigGroupResource: declaration.Templates, ConfigReferent: ocmv1alpha1.ConfigReferent{Name: template},
		})
	}
	return only
}

func configuredTemplate(configs []ocmv1alpha1.AddOnConfig) string {
	for _, config := range configs {
		if config.ConfigGroupResource == declaration.Templates {
			return config.Name
		}
	}
	return ""
}
