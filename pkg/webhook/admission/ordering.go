package admission

import (
	"fmt"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/condition/gate"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/plan/review"
	"open-cluster-management.io/interlock/pkg/text"
)

// warnIneffectiveOrdering warns if a registration begins to declare an order while the lifecycle is off.
func (v *Validator) warnIneffectiveOrdering(addOn, oldAddOn *addonv1alpha1.ClusterManagementAddOn) []string {
	if v.Lifecycle || !isOrdered(addOn) || oldAddOn != nil && isOrdered(oldAddOn) {
		return nil
	}
	return []string{fmt.Sprintf(
		"add-on '%s': ordering has no effect on this hub, because Interlock's lifecycle is off (--lifecycle)", text.Name(addOn.Name))}
}

// isOrdered reports whether an add-on declares an order. It compiles the declaration only if it can have one.
func isOrdered(addOn *addonv1alpha1.ClusterManagementAddOn) bool {
	mentioned := addOn.Spec.Ordering != "" || strings.Contains(addOn.Annotations[addonv1alpha1.DependenciesAnnotation], "ordering")
	return mentioned && gate.Ordered(declaration.Read(addOn))
}

// warnUnorderedUpgrades warns if a registration begins to order upgrades that the add-on's own manager carries out.
func warnUnorderedUpgrades(request *admissionv1.AdmissionRequest, addOn, oldAddOn *addonv1alpha1.ClusterManagementAddOn) []string {
	if !isOrdered(addOn) {
		return nil
	}
	if oldAddOn != nil && len(review.UpgradesNotOrdered(withConfigs(request.OldObject.Raw, oldAddOn))) > 0 {
		return nil
	}
	var warnings []string
	for _, judgement := range review.UpgradesNotOrdered(withConfigs(request.Object.Raw, addOn)) {
		warnings = append(warnings, judgement.Field+": "+judgement.Message)
	}
	return warnings
}

// withConfigs returns a registration with its configs, and with the annotation that makes it a bundle. raw is the same registration
// as the client wrote it, in either version of the API. withConfigs ignores a part that it cannot decode, because OCM denies it.
func withConfigs(raw []byte, addOn *addonv1alpha1.ClusterManagementAddOn) *addonv1alpha1.ClusterManagementAddOn {
	full := addOn.DeepCopy()
	for _, field := range []string{"supportedConfigs", "defaultConfigs"} {
		var configs []ocmv1alpha1.ConfigMeta
		_ = decodePart(raw, &configs, "spec", field)
		full.Spec.SupportedConfigs = append(full.Spec.SupportedConfigs, configs...) //nolint:staticcheck // v1alpha1 has no other field for it
	}
	_ = decodePart(raw, &full.Spec.InstallStrategy.Placements, placementsPath...)
	var bundle string
	if decodePart(raw, &bundle, "metadata", "annotations", addonv1alpha1.BundleAnnotation) == nil && bundle != "" {
		metav1.SetMetaDataAnnotation(&full.ObjectMeta, addonv1alpha1.BundleAnnotation, bundle)
	}
	return full
}
