package admission

import (
	"fmt"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/gate"
	"open-cluster-management.io/interlock/pkg/dependency/review"
	"open-cluster-management.io/interlock/pkg/text"
)

// orderedInVain warns of a registration that begins to declare an order, where the lifecycle is off.
func (v *Validator) orderedInVain(addOn, before *addonv1alpha1.ClusterManagementAddOn) []string {
	if v.Lifecycle || !ordered(addOn) || before != nil && ordered(before) {
		return nil
	}
	return []string{fmt.Sprintf("add-on '%s': ordering has no effect on this hub, because Interlock's lifecycle is off (--lifecycle)", text.Name(addOn.Name))}
}

// ordered compiles the declaration only where it can have an order.
func ordered(addOn *addonv1alpha1.ClusterManagementAddOn) bool {
	mentioned := addOn.Spec.Ordering != "" || strings.Contains(addOn.Annotations[addonv1alpha1.DependenciesAnnotation], "ordering")
	return mentioned && gate.Ordered(declaration.Read(addOn))
}

// upgradesNotOrdered warns of a registration that begins to order upgrades, where the add-on's own manager upgrades it.
func upgradesNotOrdered(request *admissionv1.AdmissionRequest, addOn, before *addonv1alpha1.ClusterManagementAddOn) (warnings []string) {
	if !ordered(addOn) {
		return nil
	}
	if before != nil && len(review.UpgradesNotOrdered(withConfigs(request.OldObject.Raw, before))) > 0 {
		return nil
	}
	for _, judged := range review.UpgradesNotOrdered(withConfigs(request.Object.Raw, addOn)) {
		warnings = append(warnings, judged.Field+": "+judged.Message)
	}
	return warnings
}

// withConfigs returns a registration with its configs, and with the annotation that makes it a bundle. raw is the same registration
// as it is written, in either version of the API. A part that cannot be read is OCM's to deny.
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
