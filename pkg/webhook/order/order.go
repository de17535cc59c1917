// Package order prepares add-ons for an ordered removal when they are created: the add-ons that ordered add-ons depend on get a
// finalizer. Its handler wraps the gate, which orders their installation.
package order

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"gomodules.xyz/jsonpatch/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/names"
	"open-cluster-management.io/interlock/pkg/text"
	"open-cluster-management.io/interlock/pkg/webhook/gateclosing"
)

// responseTimeout is less than the API server waits for a response. It includes the time of the gate.
const responseTimeout = 900 * time.Millisecond

// Fleet reads the inputs of a decision on a finalizer.
type Fleet interface {
	// GoBefore returns the add-ons that are removed before an add-on. They need not be installed.
	GoBefore(ctx context.Context, addOn string) ([]string, error)
}

// Preparer adds the finalizer of new add-ons to the response of the gate. It denies no request.
type Preparer struct {
	Gate  admission.Handler
	Fleet Fleet
	// Lifecycle reports whether addon-manager would remove a finalizer.
	Lifecycle gateclosing.Lifecycle
}

var _ admission.Handler = &Preparer{}

// Handle implements admission.Handler.
func (p *Preparer) Handle(ctx context.Context, request admission.Request) admission.Response {
	ctx, cancel := context.WithTimeout(ctx, responseTimeout)
	defer cancel()
	response := p.Gate.Handle(ctx, request)
	if !response.Allowed {
		return response
	}
	object := &metav1.PartialObjectMetadata{}
	err := json.Unmarshal(request.Object.Raw, object)
	waits := false
	if err == nil {
		waits, err = p.waits(ctx, object)
	}
	if err != nil {
		log.FromContext(ctx).Error(err, "Cannot decide whether an add-on is removed after its dependents; it is not",
			"addOn", request.Namespace+"/"+request.Name)
		response.AuditAnnotations = map[string]string{gateclosing.UndecidedAudit: text.Excerpt(text.OneLine(err.Error()))}
	}
	if waits {
		response.Patches = append(response.Patches, patch(object.Finalizers))
	}
	return response
}

// waits reports whether a new add-on gets the finalizer.
func (p *Preparer) waits(ctx context.Context, addOn *metav1.PartialObjectMetadata) (bool, error) {
	if addOn.Name == names.AgentAddOn || slices.Contains(addOn.Finalizers, addonv1alpha1.WaitForDependentsFinalizer) {
		return false, nil
	}
	dependents, err := p.Fleet.GoBefore(ctx, addOn.Name)
	if err != nil || len(dependents) == 0 {
		return false, err
	}
	err = p.Lifecycle.Require(ctx)
	return err == nil, err
}

// patch returns the operation that adds the finalizer.
func patch(finalizers []string) jsonpatch.Operation {
	if finalizers == nil {
		return jsonpatch.NewOperation("add", "/metadata/finalizers", []string{addonv1alpha1.WaitForDependentsFinalizer})
	}
	return jsonpatch.NewOperation("add", "/metadata/finalizers/-", addonv1alpha1.WaitForDependentsFinalizer)
}
