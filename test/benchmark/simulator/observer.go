package simulator

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// State is the last state of one add-on on one cluster that an observer has received.
type State struct {
	Available, Degraded Condition
	// Version is the add-on's resourceVersion.
	Version string
}

// Condition is the state of one condition. It is empty if the condition is absent.
type Condition struct {
	Status metav1.ConditionStatus
	Reason string
}

func (c Condition) String() string { return string(c.Status) + "/" + c.Reason }

// Change is a change of a condition.
type Change struct {
	Time time.Time
	Type string
}

// Observer follows all add-ons of a hub by a watch, like a user.
type Observer struct {
	mutex   sync.Mutex
	states  map[types.NamespacedName]State
	changes []Change
	waiting []*waiter
}

// waiter waits for a set of add-ons. Each add-on counts from the first moment in the expected state.
type waiter struct {
	pending  map[types.NamespacedName]func(State) bool
	last     time.Time
	finished chan struct{}
}

// Observe starts to follow the hub's add-ons, and returns when it has received all present add-ons. It ends with the
// context.
func (h *Hub) Observe(ctx context.Context) (*Observer, error) {
	observer := &Observer{states: map[types.NamespacedName]State{}}
	follower, err := cache.New(unthrottled(h.cluster.Config), cache.Options{
		Scheme:   h.scheme,
		ByObject: map[client.Object]cache.ByObject{&addonv1alpha1.ManagedClusterAddOn{}: {Transform: onlyConditions}},
	})
	if err != nil {
		return nil, fmt.Errorf("observe add-ons: %w", err)
	}
	informer, err := follower.GetInformer(ctx, &addonv1alpha1.ManagedClusterAddOn{}, cache.BlockUntilSynced(false))
	if err != nil {
		return nil, fmt.Errorf("observe add-ons: %w", err)
	}
	registration, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc:    observer.receive,
		UpdateFunc: func(_, object any) { observer.receive(object) },
		DeleteFunc: observer.receiveDeleted,
	})
	if err != nil {
		return nil, fmt.Errorf("observe add-ons: %w", err)
	}
	go func() { _ = follower.Start(ctx) }() // it ends with the context, without an error
	if !toolscache.WaitForCacheSync(ctx.Done(), registration.HasSynced) {
		return nil, fmt.Errorf("observe add-ons: %w", ctx.Err())
	}
	return observer, nil
}

func onlyConditions(object any) (any, error) {
	full, ok := object.(*addonv1alpha1.ManagedClusterAddOn)
	if !ok {
		return object, nil
	}
	lean := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{
		Namespace: full.Namespace, Name: full.Name, ResourceVersion: full.ResourceVersion,
	}}
	lean.Status.Conditions = full.Status.Conditions
	return lean, nil
}

func (o *Observer) receive(object any) {
	addOn, ok := object.(*addonv1alpha1.ManagedClusterAddOn)
	if !ok {
		return
	}
	now := time.Now()
	state := State{Available: conditionOf(addOn, "Available"), Degraded: conditionOf(addOn, "Degraded"), Version: addOn.ResourceVersion}
	key := client.ObjectKeyFromObject(addOn)
	o.mutex.Lock()
	defer o.mutex.Unlock()
	before := o.states[key]
	o.states[key] = state
	if before.Available != state.Available {
		o.changes = append(o.changes, Change{Time: now, Type: "Available"})
	}
	if before.Degraded != state.Degraded {
		o.changes = append(o.changes, Change{Time: now, Type: "Degraded"})
	}
	o.notify(key, state, now)
}

func (o *Observer) receiveDeleted(object any) {
	if last, ok := object.(toolscache.DeletedFinalStateUnknown); ok {
		object = last.Obj
	}
	if addOn, ok := object.(*addonv1alpha1.ManagedClusterAddOn); ok {
		o.mutex.Lock()
		defer o.mutex.Unlock()
		delete(o.states, client.ObjectKeyFromObject(addOn))
	}
}

func conditionOf(addOn *addonv1alpha1.ManagedClusterAddOn, kind string) Condition {
	condition := meta.FindStatusCondition(addOn.Status.Conditions, kind)
	if condition == nil {
		return Condition{}
	}
	return Condition{Status: condition.Status, Reason: condition.Reason}
}

// notify signals the waiting callers. The caller has locked the mutex.
func (o *Observer) notify(key types.NamespacedName, state State, now time.Time) {
	o.waiting = slices.DeleteFunc(o.waiting, func(w *waiter) bool {
		matches, ok := w.pending[key]
		if !ok || !matches(state) {
			return false
		}
		delete(w.pending, key)
		w.last = now
		if len(w.pending) > 0 {
			return false
		}
		close(w.finished)
		return true
	})
}

// Expectation has a condition on the state of each add-on.
type Expectation map[types.NamespacedName]func(State) bool

// Await waits until each add-on has been in the expected state once. It returns the time of the last one, or the
// present time if all were in that state already.
func (o *Observer) Await(ctx context.Context, expected Expectation, patience time.Duration) (time.Time, error) {
	w := o.expect(expected)
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	select {
	case <-w.finished:
		return w.last, nil
	case <-timeout.C:
		return time.Time{}, fmt.Errorf("not as expected after %s: %s", patience, o.describe(w))
	case <-ctx.Done():
		return time.Time{}, ctx.Err()
	}
}

func (o *Observer) expect(expected Expectation) *waiter {
	w := &waiter{pending: make(Expectation, len(expected)), last: time.Now(), finished: make(chan struct{})}
	o.mutex.Lock()
	defer o.mutex.Unlock()
	for key, matches := range expected {
		if !matches(o.states[key]) {
			w.pending[key] = matches
		}
	}
	if len(w.pending) == 0 {
		close(w.finished)
		return w
	}
	o.waiting = append(o.waiting, w)
	return w
}

// describe names the first few of the pending add-ons.
func (o *Observer) describe(w *waiter) string {
	const shown = 3
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.waiting = slices.DeleteFunc(o.waiting, func(candidate *waiter) bool { return candidate == w })
	var examples []string
	for key := range w.pending {
		if len(examples) == shown {
			break
		}
		state := o.states[key]
		examples = append(examples, fmt.Sprintf("%s Available=%s Degraded=%s", key, state.Available, state.Degraded))
	}
	return fmt.Sprintf("%d add-ons, such as %s", len(w.pending), strings.Join(examples, ", "))
}

// Changes returns the changes from a moment on.
func (o *Observer) Changes(start time.Time) []Change {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	first, _ := slices.BinarySearchFunc(o.changes, start, func(c Change, t time.Time) int { return c.Time.Compare(t) })
	return slices.Clone(o.changes[first:])
}

// Wrong counts the add-ons that are not in the expected state.
func (o *Observer) Wrong(expected Expectation) int {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	wrong := 0
	for key, matches := range expected {
		if !matches(o.states[key]) {
			wrong++
		}
	}
	return wrong
}
