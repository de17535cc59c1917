package protection

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/policy"
	eventsof "open-cluster-management.io/interlock/pkg/events"
	"open-cluster-management.io/interlock/pkg/text"
)

// The reasons of events on what is done although it contradicts what is installed.
const (
	// EventForced: an annotation says that it is to be removed nevertheless.
	EventForced = "RemovalForced"
	// EventNotRefused: OCM itself removes it, and is never refused anything.
	EventNotRefused = "RemovalNotRefused"
	// EventInstallationForced: an annotation says that it is to be installed nevertheless.
	EventInstallationForced = "InstallationForced"
	// EventInstallationNotRefused: OCM itself installs it.
	EventInstallationNotRefused = "InstallationNotRefused"
	// EventInstallationHeld: OCM itself creates it, and its gate is closed.
	EventInstallationHeld = "InstallationHeld"
	// EventChangeForced: an annotation says that it is to be changed nevertheless.
	EventChangeForced = "ChangeForced"
	// EventChangeNotRefused: OCM itself changes it.
	EventChangeNotRefused = "ChangeNotRefused"
)

// maxEmitted is how many events are remembered, and retriesFor how long: meanwhile, a request with the same effect is
// taken for a retry.
const (
	maxEmitted = 1024
	retriesFor = time.Minute
)

// requested has the words of a response, in which OBJECT stands for the arguments of kubectl, and the reasons of its
// events.
type requested struct{ action, forced, notRefused, isDone, does, instead string }

var (
	toRemove = requested{
		action: "Remove", forced: EventForced, notRefused: EventNotRefused, isDone: "is removed", does: "removes",
		instead: "Remove first what requires it. To remove it nevertheless: kubectl annotate OBJECT " + addonv1alpha1.ForceAnnotation + "='<why>'",
	}
	toInstall = requested{
		action: "Install", forced: EventInstallationForced, notRefused: EventInstallationNotRefused, isDone: "is installed", does: "installs",
		instead: "To install it nevertheless, give it the annotation " + addonv1alpha1.ForceAnnotation + ": '<why>'",
	}
	// toChangeHere is what is requested of an add-on that is installed on one managed cluster.
	toChangeHere = requested{
		action: "Install", forced: EventInstallationForced, notRefused: EventInstallationNotRefused, isDone: "is changed", does: "changes",
		instead: "To change it nevertheless, give it the annotation " + addonv1alpha1.ForceAnnotation + ": '<why>'",
	}
	toChange = requested{
		action: "Change", forced: EventChangeForced, notRefused: EventChangeNotRefused, isDone: "is changed", does: "changes",
		instead: "To change it nevertheless, give it the annotation " + addonv1alpha1.ForceAnnotation + ": '<why>'",
	}
)

// found is what a review has found.
type found struct {
	// object is what would be deleted or changed, as it is stored: any pod may send requests for reviews.
	object client.Object
	// does is what the request does, as "removing add-on 'base'".
	does string
	// kind and named are the object's kind, and its arguments of kubectl.
	kind, named string
	// message is what would break; empty: nothing.
	message string
	// waits is what an upgrade waits for, instead of breaking it; empty: nothing waits.
	waits string
	// held: OCM has created it, and its installation waits instead; gated: its gate is closed, for whatever reason.
	held, gated bool
	// unchecked is what could not be reviewed; empty: all was.
	unchecked string
	mode      dependencyv1alpha1.Protection
	// by are the policies that set the mode; none: the flag sets it.
	by []string
	// request is what is requested.
	request requested
	// forced is why it is done nevertheless, as an annotation says.
	forced string
}

// responder refuses or warns.
type responder struct {
	recorder events.EventRecorder
	// emitted are the latest emissions.
	emitted *cache.LRUExpireCache
}

// emission is one event.
type emission struct {
	about        types.UID
	reason, note string
}

func newResponder(options Options) *responder {
	return &responder{
		recorder: options.Recorder, emitted: cache.NewLRUExpireCacheWithClock(maxEmitted, options.Clock),
	}
}

// respond refuses or warns. What could not be reviewed because of an error is allowed.
func (r *responder) respond(request admission.Request, review found, what string, err error) admission.Response {
	if err != nil {
		return unchecked(what, err)
	}
	response := r.judge(request, review)
	if ofOCM(request.UserInfo) { // it reads no warnings
		return response
	}
	if review.unchecked != "" {
		response = response.WithWarnings(text.OneLine(review.does + " was not reviewed in full: " + review.unchecked))
	}
	if review.waits != "" && response.Allowed {
		response = response.WithWarnings(text.OneLine(review.does + " " + review.waits))
	}
	return response
}

// judge refuses or warns of what would break.
func (r *responder) judge(request admission.Request, review found) admission.Response {
	if review.message == "" {
		return admission.Allowed("")
	}
	message := text.OneLine(review.does + " " + review.message) // the API server drops a warning of two lines
	forced := strings.TrimSpace(text.OneLine(review.forced))
	switch {
	case forced != "":
		once := ""
		if review.gated {
			once = " once its gate is open"
		}
		message += fmt.Sprintf(". It %s nevertheless%s: %s", review.request.isDone, once, text.Excerpt(forced))
		r.emit(request, review, review.request.forced, message)
		return admission.Allowed("").WithWarnings(message)
	case review.held && ofOCM(request.UserInfo):
		message += ". Its gate is closed until that is over"
		r.emit(request, review, EventInstallationHeld, message)
		return admission.Allowed("").WithWarnings(message)
	case ofOCM(request.UserInfo):
		message += fmt.Sprintf(". OCM %s it nevertheless", review.request.does)
		r.emit(request, review, review.request.notRefused, message)
		return admission.Allowed("").WithWarnings(message)
	case review.mode != dependencyv1alpha1.ProtectionEnforce:
		return admission.Allowed("").WithWarnings(message)
	}
	return admission.Denied(message + instead(review))
}

// instead says who refuses, and what to do.
func instead(review found) string {
	because := ""
	if len(review.by) > 0 {
		because = " (" + policy.Named(review.by...) + ")"
	}
	return because + ". " + strings.ReplaceAll(review.request.instead, "OBJECT", review.named)
}

// emit records what is not refused, unless it is only tried. A client that retries at once gets no second event.
func (r *responder) emit(request admission.Request, review found, reason, message string) {
	if ptr.Deref(request.DryRun, false) {
		return
	}
	note := eventsof.Note(fmt.Sprintf("%s: %s", text.Name(request.UserInfo.Username), message))
	once := emission{review.object.GetUID(), reason, note}
	if _, again := r.emitted.Get(once); again {
		return
	}
	r.emitted.Add(once, nil, retriesFor)
	var related runtime.Object
	if request.Namespace != "" { // what is done on another managed cluster is another event, and not a repeated one
		related = &corev1.ObjectReference{APIVersion: "v1", Kind: "Namespace", Name: request.Namespace}
	}
	r.recorder.Eventf(eventsof.About(review.kind, review.object), related, corev1.EventTypeWarning, reason, review.request.action, "%s", note)
}

// unchecked allows a request that could not be reviewed, with a warning.
func unchecked(what string, err error) admission.Response {
	return admission.Allowed("").WithWarnings(text.Excerpt(text.OneLine(fmt.Sprintf("whether %s was not checked: %s", what, text.Failure(err)))))
}
