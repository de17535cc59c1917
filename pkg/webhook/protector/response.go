package protector

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
	"open-cluster-management.io/interlock/pkg/dependency/declaration/policy"
	eventsof "open-cluster-management.io/interlock/pkg/kube/events"
	"open-cluster-management.io/interlock/pkg/text"
)

// The reasons of events on requests that are not refused although they break add-ons.
const (
	// EventForced means that an annotation forces the removal.
	EventForced = "RemovalForced"
	// EventNotRefused means that OCM itself removes the add-on. A request of OCM is never refused.
	EventNotRefused = "RemovalNotRefused"
	// EventInstallationForced means that an annotation forces the installation.
	EventInstallationForced = "InstallationForced"
	// EventInstallationNotRefused means that OCM itself installs the add-on.
	EventInstallationNotRefused = "InstallationNotRefused"
	// EventInstallationHeld means that OCM itself creates the add-on, and that its gate is closed.
	EventInstallationHeld = "InstallationHeld"
	// EventChangeForced means that an annotation forces the change.
	EventChangeForced = "ChangeForced"
	// EventChangeNotRefused means that OCM itself changes the add-on.
	EventChangeNotRefused = "ChangeNotRefused"
)

// maxEmitted is how many events are remembered, and retryPeriod how long: meanwhile, a request with the same effect counts as a retry.
const (
	maxEmitted  = 1024
	retryPeriod = time.Minute
)

// words are the words of a response to one kind of request, and the reasons of its events.
type words struct {
	action, forcedReason, notRefusedReason, passive, active string
	// advice explains how to continue. OBJECT stands for the arguments of kubectl.
	advice string
}

var (
	removalWords = words{
		action: "Remove", forcedReason: EventForced, notRefusedReason: EventNotRefused, passive: "is removed", active: "removes",
		advice: "Remove first what requires it. To remove it nevertheless: kubectl annotate OBJECT " + addonv1alpha1.ForceAnnotation + "='<why>'",
	}
	installationWords = words{
		action: "Install", forcedReason: EventInstallationForced, notRefusedReason: EventInstallationNotRefused,
		passive: "is installed", active: "installs",
		advice: "To install it nevertheless, give it the annotation " + addonv1alpha1.ForceAnnotation + ": '<why>'",
	}
	// installedChangeWords are for the change of an add-on that is installed on one managed cluster.
	installedChangeWords = words{
		action: "Install", forcedReason: EventInstallationForced, notRefusedReason: EventInstallationNotRefused,
		passive: "is changed", active: "changes",
		advice: "To change it nevertheless, give it the annotation " + addonv1alpha1.ForceAnnotation + ": '<why>'",
	}
	changeWords = words{
		action: "Change", forcedReason: EventChangeForced, notRefusedReason: EventChangeNotRefused, passive: "is changed", active: "changes",
		advice: "To change it nevertheless, give it the annotation " + addonv1alpha1.ForceAnnotation + ": '<why>'",
	}
)

// outcome is the outcome of a review.
type outcome struct {
	// object is the stored object that the request deletes or changes. The object in the request is not used, because any pod may send
	// requests for reviews.
	object client.Object
	// kind is the kind of the object, and kubectlArgs names it on a command line.
	kind, kubectlArgs string
	// subject begins each message: it names the request, such as "removing add-on 'base'".
	subject string
	// message names the broken add-ons. It is empty if the request breaks none.
	message string
	// waitMessage names the requirements that an upgrade waits for, so that they are not refused. It is empty if nothing waits.
	waitMessage string
	// uncheckedMessage names the edges that could not be reviewed. It is empty if all could be.
	uncheckedMessage string
	// heldForContradiction is true if the gate of a new add-on was closed because the add-on contradicts others.
	heldForContradiction bool
	// gateClosed is true if the gate of the add-on is closed, for any reason.
	gateClosed bool
	mode       dependencyv1alpha1.Protection
	// policies set the mode. Without any, the flag sets it.
	policies []string
	words    words
	// forceReason is the value of the annotation that forces the request.
	forceReason string
}

// responder refuses requests or warns of their effects.
type responder struct {
	recorder events.EventRecorder
	// emitted has the latest events.
	emitted *cache.LRUExpireCache
}

// emission is the key of one event.
type emission struct {
	object       types.UID
	reason, note string
}

func newResponder(options Options) *responder {
	return &responder{
		recorder: options.Recorder, emitted: cache.NewLRUExpireCacheWithClock(maxEmitted, options.Clock),
	}
}

// respond refuses the request or warns of its effects. It allows a request whose review failed, with a warning that the concern was
// not checked.
func (r *responder) respond(request admission.Request, review outcome, concern string, err error) admission.Response {
	if err != nil {
		return allowUnchecked(concern, err)
	}
	response := r.judge(request, review)
	if fromOCM(request.UserInfo) { // it reads no warnings
		return response
	}
	if review.uncheckedMessage != "" {
		response = response.WithWarnings(text.OneLine(review.subject + " was not reviewed in full: " + review.uncheckedMessage))
	}
	if review.waitMessage != "" && response.Allowed {
		response = response.WithWarnings(text.OneLine(review.subject + " " + review.waitMessage))
	}
	return response
}

// judge refuses a request that breaks add-ons, or warns of it.
func (r *responder) judge(request admission.Request, review outcome) admission.Response {
	if review.message == "" {
		return admission.Allowed("")
	}
	message := text.OneLine(review.subject + " " + review.message) // the API server drops a warning of two lines
	forceReason := strings.TrimSpace(text.OneLine(review.forceReason))
	switch {
	case forceReason != "":
		gate := ""
		if review.gateClosed {
			gate = " once its gate is open"
		}
		message += fmt.Sprintf(". It %s nevertheless%s: %s", review.words.passive, gate, text.Excerpt(forceReason))
		r.emit(request, review, review.words.forcedReason, message)
		return admission.Allowed("").WithWarnings(message)
	case review.heldForContradiction && fromOCM(request.UserInfo):
		message += ". Its gate is closed until that is over"
		r.emit(request, review, EventInstallationHeld, message)
		return admission.Allowed("").WithWarnings(message)
	case fromOCM(request.UserInfo):
		message += fmt.Sprintf(". OCM %s it nevertheless", review.words.active)
		r.emit(request, review, review.words.notRefusedReason, message)
		return admission.Allowed("").WithWarnings(message)
	case review.mode != dependencyv1alpha1.ProtectionEnforce:
		return admission.Allowed("").WithWarnings(message)
	}
	return admission.Denied(message + denialAdvice(review))
}

// denialAdvice returns the end of a denial: the policies that enforce protection, and how to continue.
func denialAdvice(review outcome) string {
	policies := ""
	if len(review.policies) > 0 {
		policies = " (" + policy.Named(review.policies...) + ")"
	}
	return policies + ". " + strings.ReplaceAll(review.words.advice, "OBJECT", review.kubectlArgs)
}

// emit emits an event on a request that is not refused, unless it is a dry run. A client that retries at once gets no second event.
func (r *responder) emit(request admission.Request, review outcome, reason, message string) {
	if ptr.Deref(request.DryRun, false) {
		return
	}
	note := eventsof.Note(fmt.Sprintf("%s: %s", text.Name(request.UserInfo.Username), message))
	key := emission{review.object.GetUID(), reason, note}
	if _, ok := r.emitted.Get(key); ok {
		return
	}
	r.emitted.Add(key, nil, retryPeriod)
	var related runtime.Object
	if request.Namespace != "" { // the same request on another managed cluster is another event, and not a repeated one
		related = &corev1.ObjectReference{APIVersion: "v1", Kind: "Namespace", Name: request.Namespace}
	}
	r.recorder.Eventf(eventsof.About(review.kind, review.object), related, corev1.EventTypeWarning, reason, review.words.action, "%s", note)
}

// allowUnchecked allows a request whose review failed, with a warning that the concern was not checked.
func allowUnchecked(concern string, err error) admission.Response {
	return admission.Allowed("").WithWarnings(text.Excerpt(text.OneLine(
		fmt.Sprintf("whether %s was not checked: %s", concern, text.Failure(err)))))
}
