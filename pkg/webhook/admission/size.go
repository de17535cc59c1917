package admission

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/text"
	"open-cluster-management.io/interlock/pkg/text/rawjson"
)

const (
	// maxElements bounds the memory for the types of OCM: about 500 bytes for each element
	// of a list. Configurations, placements and references have at least 28 bytes each. So
	// an add-on of 1.5 MiB, the default limit of etcd, has fewer elements.
	maxElements = 60_000
	// maxAnnotations is more annotations than fit in 256 KiB, the limit of an API server.
	maxAnnotations = 100_000
	// maxEnvelope is how many bytes a review may have beside its objects, as in
	// controller-runtime. maxEnvelopeValues is how many values it may have beside them.
	maxEnvelope       = 1 << 20
	maxEnvelopeValues = 50_000
)

// Check returns a reason if a review is refused before it is decoded. Objects may be of any
// kind, because the handlers decode only parts of them.
func Check(review []byte) string {
	request := rawjson.Find(review, "request")
	length, values := len(review), rawjson.Count(review)
	for _, name := range []string{"object", "oldObject"} {
		object := rawjson.Find(request, name)
		length, values = length-len(object), values-rawjson.Count(object)
	}
	if length > maxEnvelope || values > maxEnvelopeValues {
		return fmt.Sprintf("beside its objects, the request has %d bytes and %d values: at most %d and %d are read",
			length, values, maxEnvelope, maxEnvelopeValues)
	}
	return ""
}

// Refuse returns the response to a review that is not decoded. It needs the start of the
// review, with the uid, and returns nil without one. An error would let the write pass
// unchecked.
func Refuse(start []byte, reason string) []byte {
	var uid types.UID
	if err := json.Unmarshal(rawjson.Find(start, "request", "uid"), &uid); err != nil {
		return nil
	}
	response, err := json.Marshal(&admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "AdmissionReview"},
		Response: &admissionv1.AdmissionResponse{UID: uid, Result: &metav1.Status{
			Status: metav1.StatusFailure, Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden,
			Message: "Interlock cannot check this object: " + reason,
		}},
	})
	if err != nil {
		return nil
	}
	return response
}

// findExcess returns a message if a field of an object is too large to be decoded. It
// ignores metadata, because metadata is not decoded.
func findExcess(raw []byte) string {
	total, declared := 0, 0
	for _, part := range []string{"spec", "status"} {
		for name, value := range rawjson.Members(rawjson.Find(raw, part)) {
			if slices.Contains(addonv1alpha1.GraftedSpecFields(), string(name)) {
				if count := rawjson.Count(value); count > declaration.MaxValues {
					return fmt.Sprintf("%s.%s has about %d values; at most %d can be checked", part, name, count, declaration.MaxValues)
				}
				if declared += len(value); declared > declaration.MaxBytes {
					return fmt.Sprintf("%s.%s is too long: what an add-on declares in spec can have at most %d bytes", part, name, declaration.MaxBytes)
				}
			}
			if total += rawjson.CountElements(value); total > maxElements {
				return fmt.Sprintf("%s.%s is too long: of all lists, at most %d elements can be checked", part, text.Name(string(name)), maxElements)
			}
		}
	}
	return ""
}
