package admission

import (
	"context"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/review"
	"open-cluster-management.io/interlock/pkg/fleet"
)

// unreportedVersions warns of a registration that begins to declare ranges of versions of add-ons that report none, as far as
// the cache has them. Leases and ManagedClusterAddOns are not read: there may be thousands.
func (v *Validator) unreportedVersions(ctx context.Context, addOn, before *addonv1alpha1.ClusterManagementAddOn) (warnings []string) {
	if v.cache == nil || !mentionsVersion(addOn) || before != nil && declaration.SameDeclared(addOn, before) {
		return nil
	}
	declared := declaration.Read(addOn)
	if !slices.ContainsFunc(declared.Edges, needsVersion) {
		return nil
	}
	registered, err := v.cached(ctx)
	if err != nil {
		return nil // it is only a warning
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	var templates []addonv1alpha1.AddOnTemplate
	if slices.ContainsFunc(registered, usesTemplates) { // a hub need not serve AddOnTemplates
		if templates, err = (fleet.Objects{Reader: v.cache}).Templates(ctx); err != nil && !meta.IsNoMatchError(err) {
			return nil
		}
	}
	for _, judged := range review.VersionNotReported(declared, review.FindVersioned(registered, templates)) {
		warnings = append(warnings, judged.Field+": "+judged.Message)
	}
	return warnings
}

func usesTemplates(addOn addonv1alpha1.ClusterManagementAddOn) bool {
	return declaration.UsesTemplates(&addOn)
}

func needsVersion(edge declaration.Edge) bool {
	for end := range edge.Ends() {
		if review.NeedsVersion(end) {
			return true
		}
	}
	return false
}

// mentionsVersion reports whether a declaration can have a range. To read it takes more.
func mentionsVersion(addOn *addonv1alpha1.ClusterManagementAddOn) bool {
	ranged := func(dependency addonv1alpha1.AddonDependency) bool {
		return dependency.Version != "" || slices.ContainsFunc(dependency.AnyOf, func(alternative addonv1alpha1.DependencyAlternative) bool {
			return alternative.Version != ""
		})
	}
	return slices.ContainsFunc(addOn.Spec.Dependencies, ranged) ||
		strings.Contains(addOn.Annotations[addonv1alpha1.DependenciesAnnotation], "version") ||
		strings.Contains(addOn.Annotations[addonv1alpha1.RecordAnnotation], "version")
}
