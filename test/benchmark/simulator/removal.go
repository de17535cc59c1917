package simulator

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// notChecked is in the warning of an answer that lets a deletion pass because it could not be reviewed.
const notChecked = "was not checked"

// Removal is the request for the review of a deletion, in the form that the API server sends.
type Removal struct {
	path string
	body []byte
}

// Answer is the webhook's answer to a review.
type Answer struct {
	Refused bool
	// Message is the reason for the refusal. If the request is not refused, it has the warnings.
	Message string
}

// Unchecked reports whether the answer lets the deletion pass because it could not be reviewed.
func (a Answer) Unchecked() bool { return !a.Refused && strings.Contains(a.Message, notChecked) }

// NewRemoval returns the request for the review of the deletion of an object, by a user other than OCM itself.
func (h *Hub) NewRemoval(path string, target client.Object) (Removal, error) {
	kind, err := h.Client.GroupVersionKindFor(target)
	if err != nil {
		return Removal{}, err
	}
	mapping, err := h.Client.RESTMapper().RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return Removal{}, err
	}
	target.GetObjectKind().SetGroupVersionKind(kind)
	object, err := json.Marshal(target)
	if err != nil {
		return Removal{}, err
	}
	review := admissionv1.AdmissionReview{Request: &admissionv1.AdmissionRequest{
		UID: target.GetUID(), Operation: admissionv1.Delete, Namespace: target.GetNamespace(), Name: target.GetName(),
		Kind: metav1.GroupVersionKind(kind), Resource: metav1.GroupVersionResource(mapping.Resource),
		UserInfo:  authenticationv1.UserInfo{Username: "admin", Groups: []string{"system:masters", "system:authenticated"}},
		OldObject: runtime.RawExtension{Raw: object}, DryRun: ptr.To(false),
	}}
	review.SetGroupVersionKind(admissionv1.SchemeGroupVersion.WithKind("AdmissionReview"))
	body, err := json.Marshal(review)
	return Removal{path: path, body: body}, err
}

// Review sends a request for a review, and returns the answer.
func (w *Webhook) Review(ctx context.Context, removal Removal) (answer Answer, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://"+w.address+removal.path, bytes.NewReader(removal.body))
	if err != nil {
		return Answer{}, err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := w.client.Do(request)
	if err != nil {
		return Answer{}, fmt.Errorf("request a review: %w", err)
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	if response.StatusCode != http.StatusOK {
		return Answer{}, fmt.Errorf("request a review: %s", response.Status)
	}
	var review admissionv1.AdmissionReview
	if err := json.NewDecoder(response.Body).Decode(&review); err != nil {
		return Answer{}, fmt.Errorf("read the answer to a review: %w", err)
	}
	switch {
	case review.Response == nil:
		return Answer{}, errors.New("the answer to a review has no response")
	case review.Response.Allowed || review.Response.Result == nil:
		return Answer{Refused: !review.Response.Allowed, Message: strings.Join(review.Response.Warnings, "; ")}, nil
	}
	return Answer{Refused: true, Message: review.Response.Result.Message}, nil
}
