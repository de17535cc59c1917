package fleet

import (
	"k8s.io/apimachinery/pkg/types"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/versions"
)

// The resources whose references are used, one reference of each.
const (
	ResourceConfig   = "addondeploymentconfigs"
	ResourceTemplate = "addontemplates"
)

// LeanReferences keeps the names of an add-on's AddOnDeploymentConfig and of its
// AddOnTemplates. What it returns has no group, which marks a lean reference: a second
// call changes nothing.
func LeanReferences(all []ocmv1alpha1.ConfigReference) []ocmv1alpha1.ConfigReference {
	var kept []ocmv1alpha1.ConfigReference
	if config := leanConfig(all); config != nil {
		kept = append(kept, *config)
	}
	if template := leanTemplate(all); template != nil {
		kept = append(kept, *template)
	}
	return kept
}

// leanConfig keeps what addon-framework gives an add-on: the desired config of
// the first reference to an AddOnDeploymentConfig, and nothing where that has no
// hash. See GetDesiredAddOnDeploymentConfig in pkg/utils of addon-framework 1.3.0.
func leanConfig(all []ocmv1alpha1.ConfigReference) *ocmv1alpha1.ConfigReference {
	if lean := leanReference(all, ResourceConfig); lean != nil {
		return lean
	}
	first := firstReference(all, ResourceConfig)
	if first == nil || first.DesiredConfig == nil || first.DesiredConfig.SpecHash == "" {
		return nil
	}
	return &ocmv1alpha1.ConfigReference{
		ConfigGroupResource: ocmv1alpha1.ConfigGroupResource{Resource: ResourceConfig},
		ConfigReferent:      first.DesiredConfig.ConfigReferent,
	}
}

// leanTemplate keeps the name of the AddOnTemplate that runs as the referent, and
// the one that is being rolled out as the desired config. OCM removes
// lastAppliedConfig when a rollout to a template of another name begins, and keeps
// it with another hash where a template was edited in place: see mergeAddonConfig in
// pkg/addon/controllers/addonconfiguration of OCM 1.2.1. What runs is then unknown.
func leanTemplate(all []ocmv1alpha1.ConfigReference) *ocmv1alpha1.ConfigReference {
	if lean := leanReference(all, ResourceTemplate); lean != nil {
		return lean
	}
	first := firstReference(all, ResourceTemplate)
	if first == nil {
		return nil
	}
	lean := &ocmv1alpha1.ConfigReference{ConfigGroupResource: ocmv1alpha1.ConfigGroupResource{Resource: ResourceTemplate}}
	desired, applied := first.DesiredConfig, first.LastAppliedConfig
	if desired != nil && (applied == nil || *desired != *applied) {
		lean.DesiredConfig = &ocmv1alpha1.ConfigSpecHash{ConfigReferent: ocmv1alpha1.ConfigReferent{Name: desired.Name}}
	}
	if applied != nil && (lean.DesiredConfig == nil || desired.Name != applied.Name) {
		lean.Name = applied.Name
	}
	return lean
}

func firstReference(all []ocmv1alpha1.ConfigReference, resource string) *ocmv1alpha1.ConfigReference {
	return referenceTo(all, ocmv1alpha1.ConfigGroupResource{Group: ocmv1alpha1.GroupName, Resource: resource})
}

func leanReference(all []ocmv1alpha1.ConfigReference, resource string) *ocmv1alpha1.ConfigReference {
	return referenceTo(all, ocmv1alpha1.ConfigGroupResource{Resource: resource})
}

func referenceTo(all []ocmv1alpha1.ConfigReference, of ocmv1alpha1.ConfigGroupResource) *ocmv1alpha1.ConfigReference {
	for i := range all {
		if all[i].ConfigGroupResource == of {
			return &all[i]
		}
	}
	return nil
}

// ConfigOf returns the key of the AddOnDeploymentConfig that addon-framework gives
// the add-on, and whether there is one. The add-on's references may be lean.
func ConfigOf(addOn *addonv1alpha1.ManagedClusterAddOn) (types.NamespacedName, bool) {
	reference := leanConfig(addOn.Status.ConfigReferences)
	if reference == nil {
		return types.NamespacedName{}, false
	}
	return types.NamespacedName{Namespace: reference.Namespace, Name: reference.Name}, true
}

// Templates are the names of an add-on's AddOnTemplates on one managed cluster.
type Templates struct {
	// Running is the template that runs on the cluster; empty: not known, or none.
	Running string
	// RollingOut is the template that is being rolled out there; empty: none is.
	RollingOut string
}

// TemplatesOf returns the AddOnTemplates of an add-on. Its references may be lean.
func TemplatesOf(addOn *addonv1alpha1.ManagedClusterAddOn) Templates {
	reference := leanTemplate(addOn.Status.ConfigReferences)
	if reference == nil {
		return Templates{}
	}
	templates := Templates{Running: reference.Name}
	if reference.DesiredConfig != nil {
		templates.RollingOut = reference.DesiredConfig.Name
	}
	return templates
}

// SameVersionSources reports whether the version of an add-on comes from the same
// annotations and templates in both of its states.
func SameVersionSources(a, b *addonv1alpha1.ManagedClusterAddOn) bool {
	return versions.In(a.Annotations) == versions.In(b.Annotations) && TemplatesOf(a) == TemplatesOf(b)
}
