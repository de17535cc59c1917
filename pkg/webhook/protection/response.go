package protection

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"k8s.io/utils/lru"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/policy"
	eventsof "open-cluster-management.io/interlock/pkg/events"
	"open-cluster-management.io/interlock/pkg/text"
)

// The reasons of events on what is deleted although installed add-ons require it.
const (
	// EventForced: its annotation says that it is to be deleted nevertheless.
	EventForced = "RemovalForced"
	// EventNotRefused: OCM itself deletes it, and is never refused anything.
	EventNotRefused = "RemovalNotRefused"
)

const actionRemove = "Remove"

// maxEmitted is how many removals are remembered, so that each has one event.
const maxEmitted = 1024

// found is what a review has found.
type found struct {
	// object is what would be deleted, as it is stored: any pod may send requests for reviews.
	object client.Object
	// kind and named are the object's kind, and its arguments of kubectl.
	kind, named string
	// message is what would break; empty: nothing.
	message string
	mode    dependencyv1alpha1.Protection
	// by are the policies that say so; none: the flag does.
	by []string
}

// responder refuses or warns.
type responder struct {
	clock    clock.PassiveClock
	recorder events.EventRecorder
	// refuseFrom is when it begins to refuse: before, what has been read may not be all.
	refuseFrom time.Time
	// emitted are the UIDs of objects that had their event.
	emitted *lru.Cache
}

// respond refuses or warns.
func (r *responder) respond(request admission.Request, review found) admission.Response {
	if review.message == "" {
		return admission.Allowed("")
	}
	message := fmt.Sprintf("removing add-on '%s' %s", text.Name(review.object.GetName()), review.message)
	forced := strings.TrimSpace(review.object.GetAnnotations()[addonv1alpha1.ForceAnnotation])
	switch {
	case forced != "":
		message += ". It is removed nevertheless: " + text.Excerpt(text.OneLine(forced))
		r.emit(request, review, EventForced, message)
		return admission.Allowed("").WithWarnings(message)
	case ofOCM(request.UserInfo):
		message += ". OCM removes it nevertheless"
		r.emit(request, review, EventNotRefused, message)
		return admission.Allowed("").WithWarnings(message)
	case review.mode != dependencyv1alpha1.ProtectionEnforce:
		return admission.Allowed("").WithWarnings(message)
	case r.clock.Now().Before(r.refuseFrom):
		return admission.Allowed("").WithWarnings(message + fmt.Sprintf(". addon-manager webhook refuses nothing before %s: it has just started",
			r.refuseFrom.UTC().Format(time.RFC3339)))
	}
	return admission.Denied(message + instead(review))
}

// instead says who refuses, and what to do.
func instead(review found) string {
	because := ""
	if len(review.by) > 0 {
		because = " (" + policy.Named(review.by...) + ")"
	}
	return fmt.Sprintf("%s. Remove first what requires it. To remove it nevertheless: kubectl annotate %s %s='<why>'",
		because, review.named, addonv1alpha1.ForceAnnotation)
}

// emit records a removal that is not refused, once, unless it is only tried.
func (r *responder) emit(request admission.Request, review found, reason, message string) {
	if ptr.Deref(request.DryRun, false) {
		return
	}
	if _, again := r.emitted.Get(review.object.GetUID()); again {
		return
	}
	r.emitted.Add(review.object.GetUID(), nil)
	r.recorder.Eventf(eventsof.About(review.kind, review.object), nil, corev1.EventTypeWarning, reason, actionRemove, "%s",
		eventsof.Note(fmt.Sprintf("%s: %s", text.Name(request.UserInfo.Username), message)))
}

// unchecked allows a request that could not be reviewed.
func unchecked(name string, err error) admission.Response {
	return admission.Allowed("").WithWarnings(text.Excerpt(text.OneLine(
		fmt.Sprintf("whether other add-ons require '%s' was not checked: %v", text.Name(name), err))))
}
