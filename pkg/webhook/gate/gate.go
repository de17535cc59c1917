// Package gate closes the gates of add-ons when they are created: where an add-on declares that its first installation
// waits for its dependencies, and they are not satisfied on that managed cluster.
package gate

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"gomodules.xyz/jsonpatch/v2"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/gate"
	"open-cluster-management.io/interlock/pkg/names"
	"open-cluster-management.io/interlock/pkg/text"
)

// Path is the path at which new ManagedClusterAddOns are gated.
const Path = "/gate-managedclusteraddon"

// answerWithin is less than the API server waits.
const answerWithin = 800 * time.Millisecond

// Fleet is what a gate is decided on.
type Fleet interface {
	// Registered returns what the registration of an add-on declares.
	Registered(ctx context.Context, addOn string) (declaration.Declaration, error)
	// Created returns the verdicts on an add-on as it is created; known is false where nothing can be said.
	Created(ctx context.Context, addOn *addonv1alpha1.ManagedClusterAddOn) (findings []evaluation.Finding, known bool, err error)
}

// Lifecycle knows whether an addon-manager that leads runs with --lifecycle. No other component opens a gate, or lets an AddOnTemplate go on.
type Lifecycle interface {
	// Require returns an error unless it does.
	Require(ctx context.Context) error
}

// Closer closes gates. It denies nothing. What it cannot decide gets no gate, and OCM installs it at once.
type Closer struct {
	Fleet     Fleet
	Lifecycle Lifecycle
}

var _ admission.Handler = &Closer{}

// Handle implements admission.Handler.
func (c *Closer) Handle(ctx context.Context, request admission.Request) admission.Response {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	addOn := &addonv1alpha1.ManagedClusterAddOn{}
	if err := json.Unmarshal(request.Object.Raw, addOn); err != nil {
		return ungated(ctx, request, fmt.Errorf("read the object: %w", err))
	}
	addOn.Namespace = request.Namespace
	closes, message, err := c.closes(ctx, addOn)
	if err == nil && closes {
		err = c.Lifecycle.Require(ctx) // last, so that it costs no other add-on a request
	}
	switch {
	case err != nil:
		return ungated(ctx, request, err)
	case !closes:
		return admission.Allowed("")
	}
	return admission.Patched("", patch(addOn)).WithWarnings(text.Excerpt(text.OneLine(gate.Closed(addOn.Name, addOn.Namespace, message))))
}

// closes reports whether the gate of an add-on is closed, and what the add-on waits for. A gate that its creator has set
// stays as it is. An add-on with a finalizer, as from a backup, gets none: OCM may have to install it to remove that.
func (c *Closer) closes(ctx context.Context, addOn *addonv1alpha1.ManagedClusterAddOn) (closes bool, message string, err error) {
	if _, set := addOn.Annotations[addonv1alpha1.GateAnnotation]; set || addOn.Name == names.AgentAddOn || len(addOn.Finalizers) > 0 {
		return false, "", nil
	}
	registered, err := c.Fleet.Registered(ctx, addOn.Name)
	if err != nil || !gate.Ordered(registered) {
		return false, "", err
	}
	findings, known, err := c.Fleet.Created(ctx, addOn)
	if err != nil || !known {
		return false, "", err
	}
	decided := gate.Decide(registered, findings)
	return decided.Step == gate.Wait, decided.Message, nil
}

// ungated allows an add-on without a gate. An error would deny it: the failure policy is only for a webhook that does not
// respond.
func ungated(ctx context.Context, request admission.Request, err error) admission.Response {
	log.FromContext(ctx).Error(err, "Cannot decide whether an installation waits for dependencies; it does not", "addOn", request.Namespace+"/"+request.Name)
	return admission.Allowed("").WithWarnings(text.Excerpt(text.OneLine(
		fmt.Sprintf("the installation of add-on '%s' does not wait for its dependencies: %v", text.Name(request.Name), err))))
}

var escaped = strings.NewReplacer("~", "~0", "/", "~1").Replace(addonv1alpha1.GateAnnotation)

func patch(addOn *addonv1alpha1.ManagedClusterAddOn) jsonpatch.Operation {
	if addOn.Annotations == nil {
		return jsonpatch.NewOperation("add", "/metadata/annotations", map[string]string{addonv1alpha1.GateAnnotation: addonv1alpha1.GateClosed})
	}
	return jsonpatch.NewOperation("add", "/metadata/annotations/"+escaped, addonv1alpha1.GateClosed)
}
