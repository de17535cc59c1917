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
	"open-cluster-management.io/interlock/pkg/rawjson"
	"open-cluster-management.io/interlock/pkg/text"
)

const (
	// maxElements bounds what the types of OCM take in memory, about 500 bytes for each
	// element of a list. Configurations, placements and references have at least 28 bytes, so
	// an add-on of 1.5 MiB, which is what etcd accepts by default, has fewer.
	maxElements = 60_000
	// maxAnnotations is more than 256 KiB of annotations can have, which is what an API
	// server accepts.
	maxAnnotations = 100_000
	// maxEnvelope is how many bytes a review may have beside its objects, as
	// controller-runtime reckons, and maxEnvelopeValues how many values.
	maxEnvelope       = 1 << 20
	maxEnvelopeValues = 50_000
)

// Check returns why a review is refused before it is decoded. Its objects may be of any
// kind, because the handlers decode parts of them only.
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

// Refuse returns the response to a review that is not decoded, given its start. An error
// would let the write pass unchecked. Without a uid there is no response.
func Refuse(start []byte, why string) []byte {
	var uid types.UID
	if err := json.Unmarshal(rawjson.Find(start, "request", "uid"), &uid); err != nil {
		return nil
	}
	response, err := json.Marshal(&admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "AdmissionReview"},
		Response: &admissionv1.AdmissionResponse{UID: uid, Result: &metav1.Status{
			Status: metav1.StatusFailure, Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden,
			Message: "Interlock cannot check this object: " + why,
		}},
	})
	if err != nil {
		return nil
	}
	return response
}

// tooMany returns which field of an object has too much to be decoded. Metadata is not
// decoded.
func tooMany(raw []byte) string {
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
