// Package protection reviews what removes add-ons from managed clusters, installs or changes them there: whether installed
// add-ons require what would be removed, or contradict what would be installed or changed.
package protection

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
	"open-cluster-management.io/interlock/pkg/dependency/protection"
	"open-cluster-management.io/interlock/pkg/text"
)

// Path is the path at which ManagedClusterAddOns are reviewed.
const Path = "/protect-managedclusteraddon"

// answerWithin is less than the API server waits.
const answerWithin = 800 * time.Millisecond

// waitsForOthers leaves time to read, and for what comes before the review where the hub is busy: connections and bodies.
const waitsForOthers = 400 * time.Millisecond

// maxReads is how many reviews at a time read what is on a cluster.
const maxReads = 16

// Options configure the validators.
type Options struct {
	// Live reads the objects of managed clusters, Cache the registrations, AddOnTemplates and policies.
	Live, Cache client.Reader
	// Discovery discovers the APIs of the hub.
	Discovery discovery
	Clock     clock.PassiveClock
	Recorder  events.EventRecorder
	// Lifecycle knows whether upgrades can wait; nil: none does.
	Lifecycle lifecycle
	// Mode counts where no policy sets one.
	Mode dependencyv1alpha1.Protection
}

// Validators review what removes add-ons from managed clusters, and what installs or changes them there.
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
	responds := newResponder(options)
	ofCluster := reviewer{
		live: options.Live, cache: options.Cache, discovery: options.Discovery, lifecycle: options.Lifecycle, mode: options.Mode, now: options.Clock.Now,
		declared: &declarations{cache: options.Cache}, reads: semaphore.NewWeighted(maxReads), waits: waitsForOthers,
	}
	ofFleet := ofCluster
	ofFleet.reads, ofFleet.waits = semaphore.NewWeighted(1), answerForFleetWithin // each reads a lot
	whole := &fleetReviewer{responds, ofFleet}
	return Validators{
		AddOns: &Validator{responds, ofCluster}, Registrations: &RegistrationValidator{whole}, Placements: &PlacementValidator{whole},
		Upgrades: &UpgradeValidator{whole}, Templates: &TemplateValidator{whole}, Clusters: &ClusterValidator{whole},
	}
}

// Validator reviews ManagedClusterAddOns that are deleted, created or get another AddOnTemplate. What it cannot review
// passes.
type Validator struct {
	*responder
	reviewer
}

var _ admission.Handler = &Validator{}

// Handle implements admission.Handler.
func (v *Validator) Handle(ctx context.Context, request admission.Request) admission.Response {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	before, after := &addonv1alpha1.ManagedClusterAddOn{}, &addonv1alpha1.ManagedClusterAddOn{}
	if err := read(request, before, after); err != nil {
		return unchecked(contradicting(request.Name), err)
	}
	switch request.Operation {
	case admissionv1.Delete:
		review, err := v.reviewRemoval(ctx, before, request.UserInfo)
		response := v.respond(request, review, requiring(before.Name), err)
		return warnOfObjects(request, err, response, before.Name, func() (protection.Objects, error) { return v.leftObjects(ctx, before) })
	case admissionv1.Create:
		review, err := v.reviewInstallation(ctx, nil, after)
		return v.respond(request, review, contradicting(after.Name), err)
	case admissionv1.Update:
		review, err := v.reviewInstallation(ctx, before, after)
		return v.respond(request, review, contradicting(after.Name), err)
	default:
		return admission.Allowed("")
	}
}

// read decodes the objects of a request, as far as it has them. The request that deletes a collection has no name, but
// each of its objects has.
func read(request admission.Request, before, after client.Object) error {
	return errors.Join(decode(request.OldObject.Raw, before), decode(request.Object.Raw, after))
}

func decode(raw []byte, into client.Object) error {
	if len(raw) == 0 {
		return nil
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("read the object: %w", err)
	}
	return nil
}

// requiring and contradicting are what is reviewed of an add-on.
func requiring(addOn string) string {
	return fmt.Sprintf("other add-ons require '%s'", text.Name(addOn))
}

func contradicting(addOn string) string {
	return fmt.Sprintf("add-on '%s' contradicts others", text.Name(addOn))
}
