package admission

import (
	"context"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/plan/review"
	"open-cluster-management.io/interlock/pkg/fleet"
)

// warnUnreportedVersions warns if a registration begins to declare version ranges on add-ons that report no version. It only reads
// registrations and AddOnTemplates from the cache. There may be thousands of leases and ManagedClusterAddOns.
func (v *Validator) warnUnreportedVersions(ctx context.Context, addOn, oldAddOn *addonv1alpha1.ClusterManagementAddOn) []string {
	if v.cache == nil || !mentionsVersion(addOn) || oldAddOn != nil && declaration.SameDeclared(addOn, oldAddOn) {
		return nil
	}
	declared := declaration.Read(addOn)
	if !slices.ContainsFunc(declared.Edges, needsVersion) {
		return nil
	}
	registered, err := v.listCached(ctx)
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
	var warnings []string
	for _, judgement := range review.VersionNotReported(declared, review.FindVersioned(registered, templates)) {
		warnings = append(warnings, judgement.Field+": "+judgement.Message)
	}
	return warnings
}

func usesTemplates(addOn addonv1alpha1.ClusterManagementAddOn) bool {
	return declaration.UsesTemplates(&addOn)
}

// needsVersion reports whether an edge, or an alternative of it, has a version range.
func needsVersion(edge declaration.Edge) bool {
	for end := range edge.Ends() {
		if review.NeedsVersion(end) {
			return true
		}
	}
	return false
}

// mentionsVersion reports whether a declaration can have a version range. It takes less than to read the declaration.
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
