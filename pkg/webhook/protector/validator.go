// Package protector reviews requests that remove add-ons from managed clusters, install them or change them. It refuses a request, or
// warns of it, if installed add-ons require the add-on that it removes, or contradict the add-on that it installs or changes.
package protector

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/semaphore"
	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/condition/protection"
	"open-cluster-management.io/interlock/pkg/text"
)

// Path is the path for reviews of ManagedClusterAddOns.
const Path = "/protect-managedclusteraddon"

// reviewTimeout is less than the API server waits for a response.
const reviewTimeout = 800 * time.Millisecond

// maxReadWait is how long a review waits for the reads of others. It leaves time for its own reads and, on a busy hub, for the
// connection and the body of the request.
const maxReadWait = 400 * time.Millisecond

// maxReads is how many reviews of single managed clusters read at the same time.
const maxReads = 16

// Options configure the validators.
type Options struct {
	// Live reads the objects of managed clusters. Cache reads the registrations, AddOnTemplates and policies.
	Live, Cache client.Reader
	// Discovery discovers the APIs of the hub.
	Discovery discovery
	Clock     clock.PassiveClock
	Recorder  events.EventRecorder
	// Lifecycle reports whether upgrades can wait. Without it, none waits.
	Lifecycle lifecycle
	// Mode applies to managed clusters for which no policy sets a mode.
	Mode dependencyv1alpha1.Protection
}

// Validators review the kinds of requests that remove add-ons from managed clusters, install them or change them.
type Validators struct {
	AddOns        *Validator
	Registrations *RegistrationValidator
	Placements    *PlacementValidator
	Upgrades      *UpgradeValidator
	Templates     *TemplateValidator
	Clusters      *ClusterValidator
}

// New returns the validators.
func New(options Options) Validators {
	responder := newResponder(options)
	single := reviewer{
		live:         options.Live,
		cache:        options.Cache,
		declarations: &declarations{cache: options.Cache},
		discovery:    options.Discovery,
		lifecycle:    options.Lifecycle,
		mode:         options.Mode,
		now:          options.Clock.Now,
		reads:        semaphore.NewWeighted(maxReads),
		maxWait:      maxReadWait,
	}
	fleet := &fleetReviewer{responder, single}
	fleet.reads, fleet.maxWait = semaphore.NewWeighted(1), fleetReviewTimeout // each reads a lot
	return Validators{
		AddOns:        &Validator{responder, single},
		Registrations: &RegistrationValidator{fleet},
		Placements:    &PlacementValidator{fleet},
		Upgrades:      &UpgradeValidator{fleet},
		Templates:     &TemplateValidator{fleet},
		Clusters:      &ClusterValidator{fleet},
	}
}

// Validator reviews ManagedClusterAddOns that are deleted, created or get another AddOnTemplate. It allows a request that it cannot
// review.
type Validator struct {
	*responder
	reviewer
}

var _ admission.Handler = &Validator{}

// Handle implements admission.Handler.
func (v *Validator) Handle(ctx context.Context, request admission.Request) admission.Response {
	ctx, cancel := context.WithTimeout(ctx, reviewTimeout)
	defer cancel()
	oldAddOn, newAddOn := &addonv1alpha1.ManagedClusterAddOn{}, &addonv1alpha1.ManagedClusterAddOn{}
	if err := decodeBoth(request, oldAddOn, newAddOn); err != nil {
		return allowUnchecked(contradictionConcern(request.Name), err)
	}
	switch request.Operation {
	case admissionv1.Delete:
		review, err := v.reviewRemoval(ctx, oldAddOn, request.UserInfo)
		response := v.respond(request, review, requirementConcern(oldAddOn.Name), err)
		findObjects := func() (protection.Objects, error) { return v.orphanedObjects(ctx, oldAddOn) }
		return warnOfObjects(request, err, response, oldAddOn.Name, findObjects)
	case admissionv1.Create:
		review, err := v.reviewInstallation(ctx, nil, newAddOn)
		return v.respond(request, review, contradictionConcern(newAddOn.Name), err)
	case admissionv1.Update:
		review, err := v.reviewInstallation(ctx, oldAddOn, newAddOn)
		return v.respond(request, review, contradictionConcern(newAddOn.Name), err)
	default:
		return admission.Allowed("")
	}
}

// decodeBoth decodes the old and the new object of a request. It leaves an object empty that the request does not have. The request
// that deletes a collection has no name, so handlers take the name of the object.
func decodeBoth(request admission.Request, oldObject, newObject client.Object) error {
	return errors.Join(decode(request.OldObject.Raw, oldObject), decode(request.Object.Raw, newObject))
}

// decode decodes an object. It leaves the object empty if there is no input.
func decode(raw []byte, object client.Object) error {
	if len(raw) == 0 {
		return nil
	}
	if err := json.Unmarshal(raw, object); err != nil {
		return fmt.Errorf("read the object: %w", err)
	}
	return nil
}

// requirementConcern is the concern of a review of a removal, for a warning that it was not checked.
func requirementConcern(addOn string) string {
	return fmt.Sprintf("other add-ons require '%s'", text.Name(addOn))
}

// contradictionConcern is the concern of a review of an installation or a change.
func contradictionConcern(addOn string) string {
	return fmt.Sprintf("add-on '%s' contradicts others", text.Name(addOn))
}
