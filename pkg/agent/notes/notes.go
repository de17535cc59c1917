// Package notes tells on the hub what happened to an add-on: as Kubernetes
// events on its ManagedClusterAddOn.
package notes

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
	"open-cluster-management.io/interlock/pkg/events"
)

const (
	controllerName = "open-cluster-management.io/interlock-addon-agent"
	action         = "CheckHealth"
	createTimeout  = 5 * time.Second
	// repeatAfter is how long a state that lasts is not told of again.
	repeatAfter = 10 * time.Minute
)

// Recorder creates events and does nothing else with them. client-go's own
// recorder patches an event that it repeats, which the agent has no right to,
// and would keep quiet about the second of two equal transitions.
type Recorder struct {
	clock   clock.PassiveClock
	creator client.Writer
	name    string

	mutex sync.Mutex
	told  map[types.NamespacedName]map[string]time.Time
}

// New returns a recorder for the agent of a cluster.
func New(clk clock.PassiveClock, creator client.Writer, cluster string) *Recorder {
	return &Recorder{
		clock: clk, creator: creator, name: "interlock-addon-agent-" + cluster,
		told: map[types.NamespacedName]map[string]time.Time{},
	}
}

// Transition tells that Available is no longer True.
func (r *Recorder) Transition(ctx context.Context, addOn *addonv1alpha1.ManagedClusterAddOn, now metav1.Condition) {
	r.create(ctx, addOn, now.Reason, now.Message)
}

// Contested tells that somebody else keeps overwriting Available.
func (r *Recorder) Contested(ctx context.Context, addOn *addonv1alpha1.ManagedClusterAddOn) {
	r.lasting(ctx, addOn, ReasonContested,
		"Another writer keeps overwriting the condition Available; metadata.managedFields names it. "+
			"It is written again at growing intervals.")
}

// Skewed tells that the add-on's lease was renewed that far in the future.
func (r *Recorder) Skewed(ctx context.Context, addOn *addonv1alpha1.ManagedClusterAddOn, ahead time.Duration) {
	r.lasting(ctx, addOn, ReasonLeaseSkew, fmt.Sprintf(
		"The add-on's lease was renewed %s in the future: its clock or this agent's is wrong, "+
			"and that it has died would be noticed that much later.", ahead.Round(time.Second)))
}

// Forget drops what is known of an add-on that is gone.
func (r *Recorder) Forget(key types.NamespacedName) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	delete(r.told, key)
}

// lasting tells of a state that may be found again and again.
func (r *Recorder) lasting(ctx context.Context, addOn *addonv1alpha1.ManagedClusterAddOn, reason, note string) {
	if r.toldLately(client.ObjectKeyFromObject(addOn), reason) {
		return
	}
	log.FromContext(ctx).Info(note, "reason", reason)
	r.create(ctx, addOn, reason, note)
}

func (r *Recorder) toldLately(key types.NamespacedName, reason string) bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	last, ok := r.told[key][reason]
	if ok && r.clock.Since(last) < repeatAfter {
		return true
	}
	if r.told[key] == nil {
		r.told[key] = map[string]time.Time{}
	}
	r.told[key][reason] = r.clock.Now()
	return false
}

// create makes an event. What it tells of has happened either way, so that a
// failure is not worth more than a line in the log.
func (r *Recorder) create(ctx context.Context, addOn *addonv1alpha1.ManagedClusterAddOn, reason, note string) {
	ctx, cancel := context.WithTimeout(ctx, createTimeout)
	defer cancel()
	now := r.clock.Now()
	err := r.creator.Create(ctx, &eventsv1.Event{
		ObjectMeta:          metav1.ObjectMeta{Namespace: addOn.Namespace, Name: fmt.Sprintf("%s.%x", addOn.Name, now.UnixNano())},
		EventTime:           metav1.NewMicroTime(now),
		ReportingController: controllerName,
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
