// Package protection reviews the deletion of add-ons on managed clusters: whether installed add-ons require
// what would be removed.
package protection

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sync/semaphore"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"k8s.io/utils/lru"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/policy"
	"open-cluster-management.io/interlock/pkg/dependency/protection"
	eventsof "open-cluster-management.io/interlock/pkg/events"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/names"
	"open-cluster-management.io/interlock/pkg/text"
)

// Path is the path at which deletions of ManagedClusterAddOns are reviewed.
const Path = "/protect-managedclusteraddon"

// answerWithin is less than the API server waits.
const answerWithin = 800 * time.Millisecond

const (
	maxReads   = 16
	maxEmitted = 1024
)

// The reasons of events on a ManagedClusterAddOn that is deleted although others require it.
const (
	// EventForced: its annotation says that it is to be deleted nevertheless.
	EventForced = "RemovalForced"
	// EventNotRefused: OCM itself deletes it, and is never refused anything.
	EventNotRefused = "RemovalNotRefused"
)

const actionRemove = "Remove"

// Validator reviews deletions. What it cannot review passes, and so does what it is in doubt of.
type Validator struct {
	clock    clock.PassiveClock
	live     client.Reader
	cache    client.Reader
	declared *declarations
	recorder events.EventRecorder
	// mode counts where no policy says anything.
	mode dependencyv1alpha1.Protection
	// refuseFrom is when it begins to refuse: before, what it has read may not be all.
	refuseFrom time.Time
	// reads lets few reviews at a time read what is on a cluster, however many are requested.
	reads *semaphore.Weighted
	// emitted are the UIDs of add-ons that had their event.
	emitted *lru.Cache
}

// Options configure a Validator.
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

// NewValidator returns a Validator.
func NewValidator(options Options) *Validator {
	return &Validator{
		clock: options.Clock, live: options.Live, cache: options.Cache, recorder: options.Recorder, mode: options.Mode,
		declared:   &declarations{cache: options.Cache, live: options.Live},
		refuseFrom: options.Clock.Now().Add(options.Delay),
		reads:      semaphore.NewWeighted(maxReads), emitted: lru.New(maxEmitted),
	}
}

var _ admission.Handler = &Validator{}

// found is what a review has found.
type found struct {
	// addOn is what would be deleted, as it is stored: any pod may send requests for reviews.
	addOn *addonv1alpha1.ManagedClusterAddOn
	// message is what would break; empty: nothing.
	message string
	mode    dependencyv1alpha1.Protection
	// by are the policies that say so; none: the flag does.
	by []string
}

// Handle implements admission.Handler.
func (v *Validator) Handle(ctx context.Context, request admission.Request) admission.Response {
	if request.Operation != admissionv1.Delete {
		return admission.Allowed("")
	}
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	// The request that deletes a collection has no name, but each object of it has.
	addOn := &metav1.PartialObjectMetadata{}
	if err := json.Unmarshal(request.OldObject.Raw, addOn); err != nil {
		return unchecked(request.Name, fmt.Errorf("read the object: %w", err))
	}
	if !addOn.DeletionTimestamp.IsZero() {
		return admission.Allowed("")
	}
	review, err := v.review(ctx, addOn)
	if err != nil {
		return unchecked(addOn.Name, err)
	}
	if review.message == "" {
		return admission.Allowed("")
	}
	return v.respond(request, review)
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
	if review.addOn = on[addOn.Name]; review.addOn == nil {
		return found{}, nil // another request has deleted it
	}
	broken := protection.Broken{}
	after := removal{Objects: objects, removed: addOn.Name, cluster: cluster, addOns: on, cache: v.cache}
	if err := after.breaks(ctx, under, dependents, v.clock.Now(), broken); err != nil {
		return found{}, err
	}
	review.message = broken.Message(addOn.Name)
	return review, nil
}

// installed returns the add-ons on a managed cluster.
func (v *Validator) installed(ctx context.Context, cluster string) (map[string]*addonv1alpha1.ManagedClusterAddOn, error) {
	var all addonv1alpha1.ManagedClusterAddOnList
	if err := v.live.List(ctx, &all, client.InNamespace(cluster)); err != nil {
		return nil, fmt.Errorf("list the add-ons of %s: %w", cluster, err)
	}
	named := make(map[string]*addonv1alpha1.ManagedClusterAddOn, len(all.Items))
	for i := range all.Items {
		named[all.Items[i].Name] = &all.Items[i]
	}
	return named, nil
}

// respond refuses or warns.
func (v *Validator) respond(request admission.Request, review found) admission.Response {
	message := fmt.Sprintf("removing add-on '%s' %s", text.Name(review.addOn.Name), review.message)
	forced := strings.TrimSpace(review.addOn.Annotations[addonv1alpha1.ForceAnnotation])
	switch {
	case forced != "":
		message += ". It is removed nevertheless: " + text.Excerpt(text.OneLine(forced))
		v.emit(request, review.addOn, EventForced, message)
		return admission.Allowed("").WithWarnings(message)
	case ofOCM(request.UserInfo):
		message += ". OCM removes it nevertheless"
		v.emit(request, review.addOn, EventNotRefused, message)
		return admission.Allowed("").WithWarnings(message)
	case review.mode != dependencyv1alpha1.ProtectionEnforce:
		return admission.Allowed("").WithWarnings(message)
	case v.clock.Now().Before(v.refuseFrom):
		return admission.Allowed("").WithWarnings(message + fmt.Sprintf(". addon-manager webhook refuses nothing before %s: it has just started",
			v.refuseFrom.UTC().Format(time.RFC3339)))
	}
	return admission.Denied(message + instead(review))
}

// instead says who refuses, and what to do.
func instead(review found) string {
	because := ""
	if len(review.by) > 0 {
		because = " (" + policy.Named(review.by...) + ")"
	}
	return fmt.Sprintf("%s. Remove first what requires it. To remove it nevertheless: kubectl annotate managedclusteraddon %s -n %s %s='<why>'",
		because, review.addOn.Name, review.addOn.Namespace, addonv1alpha1.ForceAnnotation)
}

// emit records a removal that is not refused, once, unless it is only tried.
func (v *Validator) emit(request admission.Request, addOn *addonv1alpha1.ManagedClusterAddOn, reason, message string) {
	if ptr.Deref(request.DryRun, false) {
		return
	}
	if _, again := v.emitted.Get(addOn.UID); again {
		return
	}
	v.emitted.Add(addOn.UID, nil)
	v.recorder.Eventf(eventsof.About(eventsof.ManagedClusterAddOn, addOn), nil, corev1.EventTypeWarning, reason, actionRemove, "%s",
		eventsof.Note(fmt.Sprintf("%s: %s", text.Name(request.UserInfo.Username), message)))
}

// unchecked allows a request that could not be reviewed.
func unchecked(name string, err error) admission.Response {
	return admission.Allowed("").WithWarnings(text.Excerpt(text.OneLine(
		fmt.Sprintf("whether other add-ons require '%s' was not checked: %v", text.Name(name), err))))
}
