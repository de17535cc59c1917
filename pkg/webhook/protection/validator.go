// Package protection reviews the deletion of add-ons on managed clusters: whether installed add-ons require
// what would be removed.
package protection

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/semaphore"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"k8s.io/utils/lru"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/protection"
	eventsof "open-cluster-management.io/interlock/pkg/events"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/names"
)

// Path is the path at which deletions of ManagedClusterAddOns are reviewed.
const Path = "/protect-managedclusteraddon"

// answerWithin is less than the API server waits.
const answerWithin = 800 * time.Millisecond

// maxReads is how many reviews at a time read what is on a cluster.
const maxReads = 16

// Validator reviews deletions of ManagedClusterAddOns. What it cannot review passes, and so does what it is in
// doubt of.
type Validator struct {
	*responder
	reviewer
	// reads lets few reviews at a time read what is on a cluster, however many are requested.
	reads *semaphore.Weighted
}

// reviewer has what reviews read.
type reviewer struct {
	live, cache client.Reader
	declared    *declarations
	// mode counts where no policy says anything.
	mode dependencyv1alpha1.Protection
	now  func() time.Time
}

// Options configure the validators.
type Options struct {
	// Live reads the objects of a managed cluster and the policies, Cache the registrations and AddOnTemplates.
	Live, Cache client.Reader
	Clock       clock.PassiveClock
	Recorder    events.EventRecorder
	// Mode counts where no policy says anything.
	Mode dependencyv1alpha1.Protection
	// Delay is for how long from now on nothing is refused.
	Delay time.Duration
}

// New returns validators of the deletion of ManagedClusterAddOns, and of their registrations.
func New(options Options) (*Validator, *RegistrationValidator) {
	reads := reviewer{
		live: options.Live, cache: options.Cache, mode: options.Mode, now: options.Clock.Now,
		declared: &declarations{cache: options.Cache, live: options.Live},
	}
	responds := &responder{
		clock: options.Clock, recorder: options.Recorder, emitted: lru.New(maxEmitted), refuseFrom: options.Clock.Now().Add(options.Delay),
	}
	return &Validator{responds, reads, semaphore.NewWeighted(maxReads)}, &RegistrationValidator{responds, reads, semaphore.NewWeighted(1)}
}

var _ admission.Handler = &Validator{}

// Handle implements admission.Handler.
func (v *Validator) Handle(ctx context.Context, request admission.Request) admission.Response {
	if request.Operation != admissionv1.Delete {
		return admission.Allowed("")
	}
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	addOn, err := deleted(request)
	if err != nil {
		return unchecked(request.Name, err)
	}
	if !addOn.DeletionTimestamp.IsZero() {
		return admission.Allowed("")
	}
	review, err := v.review(ctx, addOn)
	if err != nil {
		return unchecked(addOn.Name, err)
	}
	return v.respond(request, review)
}

// deleted is what is deleted. The request that deletes a collection has no name, but each object of it has.
func deleted(request admission.Request) (*metav1.PartialObjectMetadata, error) {
	object := &metav1.PartialObjectMetadata{}
	if err := json.Unmarshal(request.OldObject.Raw, object); err != nil {
		return nil, fmt.Errorf("read the object: %w", err)
	}
	return object, nil
}

// review finds what the deletion would break.
func (v *Validator) review(ctx context.Context, addOn *metav1.PartialObjectMetadata) (found, error) {
	dependents, err := v.declared.dependents(ctx, addOn.Name)
	if err != nil || len(dependents) == 0 || addOn.Name == names.AgentAddOn {
		return found{}, err
	}
	if err := v.reads.Acquire(ctx, 1); err != nil {
		return found{}, fmt.Errorf("wait for other reviews: %w", err)
	}
	defer v.reads.Release(1)
	under, err := v.declared.under(ctx)
	if err != nil {
		return found{}, err
	}
	objects := fleet.Objects{Reader: v.live}
	cluster, err := objects.Cluster(ctx, addOn.Namespace)
	if err != nil || cluster == nil || !cluster.DeletionTimestamp.IsZero() { // it is being detached
		return found{}, err
	}
	protected := under.policies.Protected(cluster.Labels)
	review := found{mode: cmp.Or(protected.Protection, v.mode), by: protected.Policies}
	if review.mode == dependencyv1alpha1.ProtectionOff {
		return review, nil
	}
	on, err := v.installed(ctx, addOn.Namespace)
	if err != nil {
		return found{}, err
	}
	stored := on[addOn.Name]
	if stored == nil {
		return found{}, nil // another request has deleted it
	}
	review.object, review.kind = stored, eventsof.ManagedClusterAddOn
	review.named = fmt.Sprintf("managedclusteraddon %s -n %s", stored.Name, stored.Namespace)
	broken := protection.Broken{}
	after := removal{Objects: objects, removed: addOn.Name, cluster: cluster, addOns: on, cache: v.cache}
	if err := after.breaks(ctx, under, dependents, v.now(), broken); err != nil {
		return found{}, err
	}
	review.message = broken.Message(addOn.Name)
	return review, nil
}

// installed returns the add-ons on a managed cluster.
func (r reviewer) installed(ctx context.Context, cluster string) (map[string]*addonv1alpha1.ManagedClusterAddOn, error) {
	var all addonv1alpha1.ManagedClusterAddOnList
	if err := r.live.List(ctx, &all, client.InNamespace(cluster)); err != nil {
		return nil, fmt.Errorf("list the add-ons of %s: %w", cluster, err)
	}
	named := make(map[string]*addonv1alpha1.ManagedClusterAddOn, len(all.Items))
	for i := range all.Items {
		named[all.Items[i].Name] = &all.Items[i]
	}
	return named, nil
}
