// Package gate closes the gates of add-ons when they are created: where an add-on declares that its first installation
// waits for its dependencies, and they are not satisfied on that managed cluster; and where OCM creates an add-on that contradicts
// what is installed there, and protection is enforced.
package gate

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"gomodules.xyz/jsonpatch/v2"
	authenticationv1 "k8s.io/api/authentication/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/gate"
	"open-cluster-management.io/interlock/pkg/names"
	"open-cluster-management.io/interlock/pkg/text"
)

// Path is the path at which new ManagedClusterAddOns are gated.
const Path = "/gate-managedclusteraddon"

// UndecidedAudit is what the API server's audit log has, after the name of the webhook and a slash, on the creation of an add-on that is
// not prepared because that could not be decided. Its value is the error.
const UndecidedAudit = "undecided"

// answerWithin is less than the API server waits.
const answerWithin = 800 * time.Millisecond

// Fleet is what a gate is decided on.
type Fleet interface {
	// Registered returns what the registration of an add-on declares.
	Registered(ctx context.Context, addOn string) (declaration.Declaration, error)
	// Created returns the verdicts on an add-on as it is created.
	Created(ctx context.Context, addOn *addonv1alpha1.ManagedClusterAddOn) (gate.Creation, error)
	// Contradicts returns what an add-on contradicts that is refused to other users than OCM, and that this user creates; empty: nothing.
	Contradicts(ctx context.Context, addOn *addonv1alpha1.ManagedClusterAddOn, by authenticationv1.UserInfo) (message string, err error)
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
	closing, err := c.decide(ctx, addOn, request.UserInfo)
	if err == nil && closing.annotations != nil {
		err = c.Lifecycle.Require(ctx) // last, so that it costs no other add-on a request
	}
	switch {
	case err != nil:
		return ungated(ctx, request, err)
	case closing.annotations == nil:
		return admission.Allowed("")
	}
	return admission.Patched("", patches(addOn, closing.annotations)...).
		WithWarnings(text.Excerpt(text.OneLine(gate.Closed(addOn.Name, addOn.Namespace, closing.message))))
}

// closing is how the gate of an add-on is closed.
type closing struct {
	// annotations are those that the add-on gets; nil: the gate is not closed.
	annotations map[string]string
	// message is what the add-on waits for.
	message string
}

// decide decides whether the gate of an add-on is closed. A gate that its creator has set stays as it is. An add-on with a
// finalizer, as from a backup, gets none: OCM may have to install it to remove that.
func (c *Closer) decide(ctx context.Context, addOn *addonv1alpha1.ManagedClusterAddOn, by authenticationv1.UserInfo) (closing, error) {
	if _, set := addOn.Annotations[addonv1alpha1.GateAnnotation]; set || addOn.Name == names.AgentAddOn || len(addOn.Finalizers) > 0 {
		return closing{}, nil
	}
	contradiction, err := c.Fleet.Contradicts(ctx, addOn, by)
	if err != nil {
		return closing{}, err
	}
	if contradiction != "" {
		return closing{map[string]string{
			addonv1alpha1.GateAnnotation: addonv1alpha1.GateClosed, addonv1alpha1.GateCauseAnnotation: addonv1alpha1.GateCauseContradiction,
		}, contradiction}, nil
	}
	registered, err := c.Fleet.Registered(ctx, addOn.Name)
	if err != nil || !gate.Ordered(registered) {
		return closing{}, err
	}
	created, err := c.Fleet.Created(ctx, addOn)
	if err != nil {
		return closing{}, err
	}
	if decided := gate.DecideCreation(registered, created); decided.Step == gate.Wait {
		return closing{map[string]string{addonv1alpha1.GateAnnotation: addonv1alpha1.GateClosed}, decided.Message}, nil
	}
	return closing{}, nil
}

// ungated allows an add-on without a gate. An error would deny it: the failure policy is only for a webhook that does not
// respond.
func ungated(ctx context.Context, request admission.Request, err error) admission.Response {
	log.FromContext(ctx).Error(err, "Cannot decide whether an installation waits for dependencies; it does not", "addOn", request.Namespace+"/"+request.Name)
	response := admission.Allowed("").WithWarnings(text.Excerpt(text.OneLine(
		fmt.Sprintf("the installation of add-on '%s' does not wait for its dependencies: %s", text.Name(request.Name), text.Failure(err)))))
	response.AuditAnnotations = map[string]string{UndecidedAudit: text.Excerpt(text.OneLine(err.Error()))}
	return response
}

var escape = strings.NewReplacer("~", "~0", "/", "~1")

// patches add annotations to an add-on.
func patches(addOn *addonv1alpha1.ManagedClusterAddOn, annotations map[string]string) (all []jsonpatch.Operation) {
	if addOn.Annotations == nil {
		return []jsonpatch.Operation{jsonpatch.NewOperation("add", "/metadata/annotations", annotations)}
	}
	for _, name := range slices.Sorted(maps.Keys(annotations)) {
		all = append(all, jsonpatch.NewOperation("add", "/metadata/annotations/"+escape.Replace(name), annotations[name]))
	}
	return all
}
