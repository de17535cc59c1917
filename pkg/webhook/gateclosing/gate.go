// Package gateclosing closes the gates of add-ons when they are created. It closes a gate in two cases:
//
//   - The add-on declares that its first installation waits for its dependencies, and they are not satisfied on the managed cluster.
//   - OCM creates an add-on that contradicts installed add-ons, and protection is enforced there.
package gateclosing

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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/condition/gate"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/names"
	"open-cluster-management.io/interlock/pkg/text"
)

// Path is the path for requests that create ManagedClusterAddOns.
const Path = "/gate-managedclusteraddon"

// UndecidedAudit is the name of the audit annotation on the creation of an add-on whose gate or finalizer could not be decided. Its value
// is the error. In its audit log, the API server puts the name of the webhook and a slash before it.
const UndecidedAudit = "undecided"

// responseTimeout is less than the API server waits for a response.
const responseTimeout = 800 * time.Millisecond

// Fleet reads the inputs of a decision on a gate.
type Fleet interface {
	// Registered returns the declaration in the registration of an add-on.
	Registered(ctx context.Context, addOn string) (declaration.Declaration, error)
	// Created returns the verdicts on an add-on at its creation.
	Created(ctx context.Context, addOn *addonv1alpha1.ManagedClusterAddOn) (gate.Creation, error)
	// Contradicts returns a message if the user is OCM, and any other user would be refused the add-on. Otherwise it is empty.
	Contradicts(ctx context.Context, addOn *addonv1alpha1.ManagedClusterAddOn, user authenticationv1.UserInfo) (string, error)
}

// Lifecycle reports whether the addon-manager that leads runs with --lifecycle. Only such an addon-manager opens gates and continues
// rollouts of AddOnTemplates.
type Lifecycle interface {
	// Require returns an error if no addon-manager with --lifecycle leads.
	Require(ctx context.Context) error
}

// Closer closes gates. It denies no request. An add-on that it cannot decide on gets no gate, so OCM installs it at once.
type Closer struct {
	Fleet     Fleet
	Lifecycle Lifecycle
}

var _ admission.Handler = &Closer{}

// Handle implements admission.Handler.
func (c *Closer) Handle(ctx context.Context, request admission.Request) admission.Response {
	ctx, cancel := context.WithTimeout(ctx, responseTimeout)
	defer cancel()
	addOn := &addonv1alpha1.ManagedClusterAddOn{}
	if err := json.Unmarshal(request.Object.Raw, addOn); err != nil {
		return allowUngated(ctx, request, fmt.Errorf("read the object: %w", err))
	}
	addOn.Namespace = request.Namespace
	decision, err := c.decide(ctx, addOn, request.UserInfo)
	if err == nil && decision.annotations != nil {
		err = c.Lifecycle.Require(ctx) // last, so that it costs no other add-on a request
	}
	switch {
	case err != nil:
		return allowUngated(ctx, request, err)
	case decision.annotations == nil:
		return admission.Allowed("")
	}
	response := admission.Patched("", patches(addOn, decision.annotations)...)
	if decision.inPlan && byPlugin(request) {
		return response
	}
	return response.WithWarnings(text.Excerpt(text.OneLine(gate.Closed(addOn.Name, addOn.Namespace, decision.message))))
}

// byPlugin reports whether kubectl addon creates the object.
func byPlugin(request admission.Request) bool {
	var options metav1.CreateOptions
	return json.Unmarshal(request.Options.Raw, &options) == nil && options.FieldManager == addonv1alpha1.InstalledByPlugin
}

// decision is the decision on the gate of an add-on.
type decision struct {
	// annotations close the gate. They are nil if it is not closed.
	annotations map[string]string
	// message explains why the add-on waits.
	message string
	// inPlan is whether a plan of kubectl addon already shows for which dependencies the add-on waits.
	inPlan bool
}

// decide decides on the gate of an add-on. It leaves a gate alone that the creator has set. An add-on with a finalizer, such as from a
// backup, gets no gate: OCM may have to install it before it can remove the finalizer.
func (c *Closer) decide(
	ctx context.Context, addOn *addonv1alpha1.ManagedClusterAddOn, user authenticationv1.UserInfo,
) (decision, error) {
	if _, ok := addOn.Annotations[addonv1alpha1.GateAnnotation]; ok || addOn.Name == names.AgentAddOn || len(addOn.Finalizers) > 0 {
		return decision{}, nil
	}
	contradiction, err := c.Fleet.Contradicts(ctx, addOn, user)
	if err != nil {
		return decision{}, err
	}
	if contradiction != "" {
		annotations := map[string]string{
			addonv1alpha1.GateAnnotation: addonv1alpha1.GateClosed, addonv1alpha1.GateCauseAnnotation: addonv1alpha1.GateCauseContradiction,
		}
		return decision{annotations: annotations, message: contradiction}, nil
	}
	registered, err := c.Fleet.Registered(ctx, addOn.Name)
	if err != nil || !gate.Ordered(registered) {
		return decision{}, err
	}
	created, err := c.Fleet.Created(ctx, addOn)
	if err != nil {
		return decision{}, err
	}
	if ordering := gate.DecideCreation(registered, created); ordering.Step == gate.Wait {
		return decision{
			annotations: map[string]string{addonv1alpha1.GateAnnotation: addonv1alpha1.GateClosed},
			message:     ordering.Message,
			inPlan:      created.Missing == "",
		}, nil
	}
	return decision{}, nil
}

// allowUngated allows an add-on without a gate. An error would deny it, because the failure policy only applies to a webhook that does
// not respond.
func allowUngated(ctx context.Context, request admission.Request, err error) admission.Response {
	log.FromContext(ctx).Error(err, "Cannot decide whether an installation waits for dependencies; it does not",
		"addOn", request.Namespace+"/"+request.Name)
	response := admission.Allowed("").WithWarnings(text.Excerpt(text.OneLine(
		fmt.Sprintf("the installation of add-on '%s' does not wait for its dependencies: %s", text.Name(request.Name), text.Failure(err)))))
	response.AuditAnnotations = map[string]string{UndecidedAudit: text.Excerpt(text.OneLine(err.Error()))}
	return response
}

var escape = strings.NewReplacer("~", "~0", "/", "~1")

// patches returns the operations that add annotations to an add-on.
func patches(addOn *addonv1alpha1.ManagedClusterAddOn, annotations map[string]string) []jsonpatch.Operation {
	if addOn.Annotations == nil {
		return []jsonpatch.Operation{jsonpatch.NewOperation("add", "/metadata/annotations", annotations)}
	}
	var operations []jsonpatch.Operation
	for _, name := range slices.Sorted(maps.Keys(annotations)) {
		operations = append(operations, jsonpatch.NewOperation("add", "/metadata/annotations/"+escape.Replace(name), annotations[name]))
	}
	return operations
}
