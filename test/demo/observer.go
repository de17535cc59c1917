package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	toolswatch "k8s.io/client-go/tools/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

type installed = addonv1alpha1.ManagedClusterAddOn

// change is a change of an add-on, with the time when a watch delivered it.
type change struct {
	time  time.Time
	addOn types.NamespacedName
	// condition is "Available" or "Degraded". It is empty when the add-on itself was created or deleted. The status
	// is then "created" or "deleted".
	condition, status, reason string
	// sameStatus is true if the condition had the same status before, for another reason.
	sameStatus bool
}

// observer follows the add-ons of all clusters by one watch, like a user's `kubectl get -w`, and keeps every change.
type observer struct {
	mutex   sync.Mutex
	addOns  map[types.NamespacedName]*installed
	changes []change
	news    chan struct{} // closed, and replaced, at every change
}

func observe(ctx context.Context, hub client.WithWatch) (*observer, error) {
	var list addonv1alpha1.ManagedClusterAddOnList
	if err := hub.List(ctx, &list); err != nil {
		return nil, err
	}
	events, err := toolswatch.NewRetryWatcherWithContext(ctx, list.ResourceVersion, &cache.ListWatch{
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return hub.Watch(ctx, &addonv1alpha1.ManagedClusterAddOnList{}, &client.ListOptions{Raw: &o})
		},
	})
	if err != nil {
		return nil, fmt.Errorf("watch add-ons: %w", err)
	}
	o := &observer{addOns: map[types.NamespacedName]*installed{}, news: make(chan struct{})}
	go func() {
		for event := range events.ResultChan() {
			o.record(event, time.Now())
		}
	}()
	return o, nil
}

func (o *observer) record(event watch.Event, received time.Time) {
	addOn, ok := event.Object.(*installed)
	if !ok {
		return
	}
	o.mutex.Lock()
	defer o.mutex.Unlock()
	name := client.ObjectKeyFromObject(addOn)
	before := o.addOns[name]
	switch {
	case event.Type == watch.Deleted:
		delete(o.addOns, name)
		o.changes = append(o.changes, change{time: received, addOn: name, status: "deleted"})
	case before == nil:
		before = &installed{}
		o.changes = append(o.changes, change{time: received, addOn: name, status: "created"})
		fallthrough
	default:
		o.addOns[name] = addOn
		for _, condition := range []string{"Degraded", "Available"} {
			o.compare(before, addOn, condition, received)
		}
	}
	close(o.news)
	o.news = make(chan struct{})
}

func (o *observer) compare(before, after *installed, condition string, received time.Time) {
	previous := meta.FindStatusCondition(before.Status.Conditions, condition)
	current := meta.FindStatusCondition(after.Status.Conditions, condition)
	if current == nil || (previous != nil && previous.Status == current.Status && previous.Reason == current.Reason) {
		return
	}
	o.changes = append(o.changes, change{
		time: received, addOn: client.ObjectKeyFromObject(after),
		condition: condition, status: string(current.Status), reason: current.Reason,
		sameStatus: previous != nil && previous.Status == current.Status,
	})
}

// look calls f with the current state and returns the result of f. The channel is closed at the next change.
func (o *observer) look(f func(addOns map[types.NamespacedName]*installed, changes []change) bool) (bool, <-chan struct{}) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return f(o.addOns, o.changes), o.news
}

// await waits for the first change that matches, from the start time on.
func (o *observer) await(ctx context.Context, start time.Time, matches func(change) bool) (change, error) {
	for {
		var match change
		ok, news := o.look(func(_ map[types.NamespacedName]*installed, changes []change) bool {
			for _, c := range changes {
				if !c.time.Before(start) && matches(c) {
					match = c
					return true
				}
			}
			return false
		})
		if ok {
			return match, nil
		}
		select {
		case <-news:
		case <-ctx.Done():
			return change{}, fmt.Errorf("wait for a change: %w", ctx.Err())
		}
	}
}

// errUnsettled is returned when expectations are not met, or not for long enough.
var errUnsettled = errors.New("it did not come true, or not for long")

// settle waits until all expectations hold, and no add-on is written for calm: OCM's own controllers may still be at
// work.
func (o *observer) settle(ctx context.Context, expected []expectation, calm time.Duration) error {
	var calmTimer <-chan time.Time
	for {
		holds, news := o.look(func(addOns map[types.NamespacedName]*installed, _ []change) bool {
			return len(mismatches(expected, addOns)) == 0
		})
		switch {
		case !holds:
			calmTimer = nil
		case calmTimer == nil:
			calmTimer = time.After(calm)
		}
		select {
		case <-calmTimer:
			return nil
		case <-news:
			calmTimer = nil
		case <-ctx.Done():
			return errUnsettled
		}
	}
}

// since returns the changes from the start time on.
func (o *observer) since(start time.Time) []change {
	var later []change
	o.look(func(_ map[types.NamespacedName]*installed, changes []change) bool {
		for _, c := range changes {
			if !c.time.Before(start) {
				later = append(later, c)
			}
		}
		return true
	})
	return later
}
