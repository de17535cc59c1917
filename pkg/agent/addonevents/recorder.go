// Package addonevents emits Kubernetes events about an add-on on the hub. They regard its ManagedClusterAddOn.
package addonevents

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/availability"
	"open-cluster-management.io/interlock/pkg/kube/events"
	"open-cluster-management.io/interlock/pkg/names"
)

const (
	action        = "CheckHealth"
	createTimeout = 5 * time.Second
	// repeatAfter is the shortest time between two events about a state that lasts.
	repeatAfter = 10 * time.Minute
)

// The reasons of events that are not reasons of Available.
const (
	// ReasonContested means that another writer keeps overwriting Available.
	ReasonContested = "AvailableContested"
	// ReasonLeaseSkew means that the add-on's lease was renewed further in the future
	// than the grace period is long.
	ReasonLeaseSkew = "LeaseRenewedInFuture"
)

// Reasons lists the reason of every event of addon-agent. All events are on a
// ManagedClusterAddOn. The event of a change of Available has its reason and message. A
// change to True, or one that only follows from Degraded, has no event.
var Reasons = []string{
	availability.ReasonLeaseStopped,
	availability.ReasonLeaseNotFound,
	availability.ReasonAwaitingHealthCheck,
	ReasonContested,
	ReasonLeaseSkew,
}

// Recorder creates one event object per event. client-go's recorder patches an event
// that it repeats. The agent has no right to patch events, and the second of two equal transitions would be missing.
type Recorder struct {
	clock   clock.PassiveClock
	creator client.Writer
	name    string

	mutex   sync.Mutex
	emitted map[types.NamespacedName]map[string]time.Time // by reason
}

// NewRecorder returns a recorder for the agent of a cluster.
func NewRecorder(clk clock.PassiveClock, creator client.Writer, cluster string) *Recorder {
	return &Recorder{
		clock: clk, creator: creator, name: names.AddonAgent + "-" + cluster,
		emitted: map[types.NamespacedName]map[string]time.Time{},
	}
}

// Transition emits that Available is no longer True.
func (r *Recorder) Transition(ctx context.Context, addOn *addonv1alpha1.ManagedClusterAddOn, available metav1.Condition) {
	r.create(ctx, addOn, available.Reason, available.Message)
}

// Contested emits that another writer keeps overwriting Available.
func (r *Recorder) Contested(ctx context.Context, addOn *addonv1alpha1.ManagedClusterAddOn) {
	r.repeat(ctx, addOn, ReasonContested,
		"Another writer keeps overwriting the condition Available; metadata.managedFields names it. "+
			"addon-agent sets it again at growing intervals.")
}

// Skewed emits that the add-on's lease was renewed in the future, by the given duration.
func (r *Recorder) Skewed(ctx context.Context, addOn *addonv1alpha1.ManagedClusterAddOn, ahead time.Duration) {
	r.repeat(ctx, addOn, ReasonLeaseSkew, fmt.Sprintf(
		"The add-on's lease was renewed %s in the future: the add-on's clock or addon-agent's is wrong. "+
			"If the add-on stops, Available becomes False that much later.", ahead.Round(time.Second)))
}

// Forget removes the records of an add-on that was deleted.
func (r *Recorder) Forget(key types.NamespacedName) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	delete(r.emitted, key)
}

// repeat emits a state that lasts, not more often than repeatAfter allows.
func (r *Recorder) repeat(ctx context.Context, addOn *addonv1alpha1.ManagedClusterAddOn, reason, note string) {
	if r.emittedRecently(client.ObjectKeyFromObject(addOn), reason) {
		return
	}
	log.FromContext(ctx).Info(note, "reason", reason)
	r.create(ctx, addOn, reason, note)
}

func (r *Recorder) emittedRecently(key types.NamespacedName, reason string) bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	last, ok := r.emitted[key][reason]
	if ok && r.clock.Since(last) < repeatAfter {
		return true
	}
	if r.emitted[key] == nil {
		r.emitted[key] = map[string]time.Time{}
	}
	r.emitted[key][reason] = r.clock.Now()
	return false
}

// create creates an event. A failure is only logged.
func (r *Recorder) create(ctx context.Context, addOn *addonv1alpha1.ManagedClusterAddOn, reason, note string) {
	ctx, cancel := context.WithTimeout(ctx, createTimeout)
	defer cancel()
	eventTime := r.clock.Now()
	err := r.creator.Create(ctx, &eventsv1.Event{
		ObjectMeta:          metav1.ObjectMeta{Namespace: addOn.Namespace, Name: fmt.Sprintf("%s.%x", addOn.Name, eventTime.UnixNano())},
		EventTime:           metav1.NewMicroTime(eventTime),
		ReportingController: names.AddonAgentEvents,
		ReportingInstance:   r.name,
		Action:              action,
		Type:                corev1.EventTypeWarning,
		Reason:              reason,
		Note:                events.Note(note),
		Regarding:           *events.About(events.ManagedClusterAddOn, addOn),
	})
	if err != nil {
		log.FromContext(ctx).V(1).Info("Could not create an event", "reason", reason, "cause", err.Error())
	}
}
