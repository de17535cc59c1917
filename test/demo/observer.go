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

// change is one change of an add-on, at the time when a watch delivered it.
type change struct {
	at    time.Time
	addOn types.NamespacedName
	// condition is "Available" or "Degraded", or empty when the add-on itself
	// came or went; status is then "created" or "deleted".
	condition, status, reason string
	// again: it had the same status before, for another reason.
	again bool
}

// observer follows the add-ons of all clusters by one watch, as a user's
// `kubectl get -w` would, and remembers every change.
type observer struct {
	mutex   sync.Mutex
	addOns  map[types.NamespacedName]*installed
	changes []change
	news    chan struct{} // closed, and replaced, with every change
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

func (o *observer) record(event watch.Event, at time.Time) {
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
		o.changes = append(o.changes, change{at: at, addOn: name, status: "deleted"})
	case before == nil:
		before = &installed{}
		o.changes = append(o.changes, change{at: at, addOn: name, status: "created"})
		fallthrough
	default:
		o.addOns[name] = addOn
		for _, condition := range []string{"Degraded", "Available"} {
			o.compare(before, addOn, condition, at)
		}
	}
	close(o.news)
	o.news = make(chan struct{})
}

func (o *observer) compare(before, after *installed, condition string, at time.Time) {
	was := meta.FindStatusCondition(before.Status.Conditions, condition)
	is := meta.FindStatusCondition(after.Status.Conditions, condition)
	if is == nil || (was != nil && was.Status == is.Status && was.Reason == is.Reason) {
		return
	}
	o.changes = append(o.changes, change{
		at: at, addOn: client.ObjectKeyFromObject(after),
		condition: condition, status: string(is.Status), reason: is.Reason,
		again: was != nil && was.Status == is.Status,
	})
}

// look calls f with what is known now and returns what f does, with a channel
// that tells of news.
func (o *observer) look(f func(addOns map[types.NamespacedName]*installed, changes []change) bool) (bool, <-chan struct{}) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return f(o.addOns, o.changes), o.news
}

// await waits for the first change from a time on that matches.
func (o *observer) await(ctx context.Context, from time.Time, matches func(change) bool) (change, error) {
	for {
		var match change
		found, news := o.look(func(_ map[types.NamespacedName]*installed, changes []change) bool {
			for _, c := range changes {
				if !c.at.Before(from) && matches(c) {
					match = c
					return true
				}
			}
			return false
		})
		if found {
			return match, nil
		}
		select {
		case <-news:
		case <-ctx.Done():
			return change{}, fmt.Errorf("wait for a change: %w", ctx.Err())
		}
	}
}

// errUnsettled is returned when expectations do not come true, or do not stay so.
var errUnsettled = errors.New("it did not come true, or not for long")

// settle waits until all expectations hold, and no add-on is written for calm:
// OCM's own controllers may still be at work on one.
func (o *observer) settle(ctx context.Context, expected []expectation, calm time.Duration) error {
	var calmed <-chan time.Time
	for {
		holds, news := o.look(func(addOns map[types.NamespacedName]*installed, _ []change) bool {
			return len(mismatches(expected, addOns)) == 0
		})
		switch {
		case !holds:
			calmed = nil
		case calmed == nil:
			calmed = time.After(calm)
		}
		select {
		case <-calmed:
			return nil
		case <-news:
			calmed = nil
		case <-ctx.Done():
			return errUnsettled
		}
	}
}

// since returns the changes from a time on.
func (o *observer) since(from time.Time) []change {
	var later []change
	o.look(func(_ map[types.NamespacedName]*installed, changes []change) bool {
		for _, c := range changes {
			if !c.at.Before(from) {
				later = append(later, c)
			}
		}
		return true
	})
	return later
}
