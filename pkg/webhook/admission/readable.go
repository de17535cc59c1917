package admission

import (
	"fmt"

	admissionv1 "k8s.io/api/admission/v1"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	ocmv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// findUnreadable returns a message if OCM's components could not read the object. Then they
// could not read any other object, because they read them in one list. The schema of the
// CRD accepts, for example, a maxConcurrency that overflows their type.
func findUnreadable(request admission.Request) string {
	err := decodeAsOCM(request.Kind.Version, request.Object.Raw)
	if err == nil || request.Operation == admissionv1.Update && decodeAsOCM(request.Kind.Version, request.OldObject.Raw) != nil {
		return "" // a stored object that is unreadable can still be changed
	}
	return fmt.Sprintf("Open Cluster Management could not read add-on %q, and then no other add-on either: %v", request.Name, err)
}

func decodeAsOCM(version string, raw []byte) error {
	var spec, status any
	switch version {
	case ocmv1alpha1.GroupVersion.Version:
		spec, status = &ocmv1alpha1.ClusterManagementAddOnSpec{}, &ocmv1alpha1.ClusterManagementAddOnStatus{}
	case ocmv1beta1.GroupVersion.Version:
		spec, status = &ocmv1beta1.ClusterManagementAddOnSpec{}, &ocmv1beta1.ClusterManagementAddOnStatus{}
	default:
		return nil
	}
	if err := decodePart(raw, spec, "spec"); err != nil {
		return err
	}
	return decodePart(raw, status, "status")
}
