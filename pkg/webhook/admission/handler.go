// Package admission answers the API server before a ClusterManagementAddOn is
// created or updated: what pkg/dependency denies is denied, what it warns of
// is printed by kubectl.
package admission

import (
	"context"
	"fmt"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/review"
)

// Path is where the handler is to be served.
const Path = "/validate-clustermanagementaddon"

// Validator judges ClusterManagementAddOns of both versions. A failure of its
// own never denies anything: evaluation finds later what it has missed.
type Validator struct {
	// Reader lists what is registered on the hub. It must not be a cache: where
	// the CRD has just got the field, a cache keeps add-ons without it.
	Reader client.Reader

	reviewer review.Reviewer
}

var _ admission.Handler = &Validator{}

// Handle implements admission.Handler.
func (v *Validator) Handle(ctx context.Context, request admission.Request) admission.Response {
	if request.Operation != admissionv1.Create && request.Operation != admissionv1.Update {
		return admission.Allowed("")
	}
	addOn, err := decode(request.Object.Raw)
	if err != nil {
		return unchecked(request.Name, err)
	}
	var before *addonv1alpha1.ClusterManagementAddOn
	if request.Operation == admissionv1.Update {
		if before, err = decode(request.OldObject.Raw); err != nil {
			return unchecked(request.Name, err)
		}
	}
	var others addonv1alpha1.ClusterManagementAddOnList
	if err := v.Reader.List(ctx, &others); err != nil {
		return unchecked(addOn.Name, fmt.Errorf("list what is registered: %w", err))
	}
	return respond(v.reviewer.Review(addOn, before, others.Items))
}

func respond(review review.Result) admission.Response {
	if len(review.Denials) > 0 {
		return admission.Denied(strings.Join(review.Denials, "; ")).WithWarnings(review.Warnings...)
	}
	return admission.Allowed("").WithWarnings(review.Warnings...)
}

// unchecked lets pass what could not be judged. An error would be a denial:
// the failure policy speaks only of a webhook that does not answer.
func unchecked(name string, err error) admission.Response {
	return admission.Allowed("").WithWarnings(fmt.Sprintf("the dependencies of add-on %q were not checked: %v", name, err))
}

// decode reads what a declaration consists of. It stands at the same place in
// every version, and the rest, which does not, need not be converted for it.
func decode(raw []byte) (*addonv1alpha1.ClusterManagementAddOn, error) {
	var written struct {
		Metadata metav1.ObjectMeta `json:"metadata"`
		Spec     struct {
			Dependencies []addonv1alpha1.AddonDependency  `json:"dependencies"`
			Requirements *addonv1alpha1.AddonRequirements `json:"requirements"`
			Provides     []addonv1alpha1.AddonAPI         `json:"provides"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(raw, &written); err != nil {
		return nil, fmt.Errorf("read the object: %w", err)
	}
	addOn := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: written.Metadata}
	addOn.Spec.Dependencies = written.Spec.Dependencies
	addOn.Spec.Requirements, addOn.Spec.Provides = written.Spec.Requirements, written.Spec.Provides
	return addOn, nil
}
