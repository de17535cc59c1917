// Package factsinformer caches ManagedClusterFacts, also on a hub whose CRD is not
// installed yet, or no longer. It waits for the CRD without delaying other caches.
package factsinformer

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
)

// Facts are the objects that are cached.
type Facts = dependencyv1alpha1.ManagedClusterFacts

// Options are what to cache, and which functions to call.
type Options struct {
	// Only is the one object to cache; the zero value is all of them.
	Only types.NamespacedName
	// RetryLast is the longest time until the informer notices that the API is served.
	RetryLast time.Duration
	// Lean removes from an object what is not needed; nil keeps everything.
	Lean func(*Facts) *Facts
	// Changed is called with an object before and after a change, nil where
	// there is none. It must not block.
	Changed func(before, after *Facts)
	// Turned is called when the state of the API has changed. It must not block.
	Turned func(State)
}

// State is what is known of the API.
type State int

const (
	// Unknown means that the hub has not responded yet.
	Unknown State = iota
	// Absent means that the hub does not serve the API, or forbids to read it.
	Absent
	// Served means that the objects are cached.
	Served
)

// Informer caches ManagedClusterFacts while they are served.
type Informer struct {
	client  client.WithWatch
	options Options
	confirm time.Duration

	mutex  sync.RWMutex
	state  State
	cached cache.Indexer // nil while Absent or Unknown, but shortly before Served
}

// New returns an informer that caches nothing until it is started.
func New(hub client.WithWatch, options Options) *Informer {
	return &Informer{client: hub, options: options, confirm: confirmTime}
}

// State returns what is known of the API.
func (i *Informer) State() State {
	i.mutex.RLock()
	defer i.mutex.RUnlock()
	return i.state
}

// Get returns a cached object; nil if there is none. It is shared and must not be
// changed.
func (i *Informer) Get(key types.NamespacedName) *Facts {
	i.mutex.RLock()
	defer i.mutex.RUnlock()
	if i.cached == nil {
		return nil
	}
	object, exists, err := i.cached.GetByKey(key.String())
	if err != nil || !exists {
		return nil
	}
	facts, _ := object.(*Facts)
	return facts
}

// List returns all cached objects. They are shared and must not be changed.
func (i *Informer) List() []*Facts {
	i.mutex.RLock()
	defer i.mutex.RUnlock()
	if i.cached == nil {
		return nil
	}
	var all []*Facts
	for _, object := range i.cached.List() {
		if facts, ok := object.(*Facts); ok {
			all = append(all, facts)
		}
	}
	return all
}

// NeedLeaderElection implements manager.LeaderElectionRunnable. A new leader has a full
// cache at once.
func (i *Informer) NeedLeaderElection() bool { return false }

func (i *Informer) setCached(cached cache.Indexer) {
	i.mutex.Lock()
	defer i.mutex.Unlock()
	i.cached = cached
}

// setState keeps the state of the API, and reports a change.
func (i *Informer) setState(ctx context.Context, state State, cause error) {
	i.mutex.Lock()
	changed := i.state != state
	i.state = state
	i.mutex.Unlock()
	if !changed {
		return
	}
	if state == Absent {
		log.FromContext(ctx).Info("The hub does not serve ManagedClusterFacts: APIs and running versions of managed clusters "+
			"stay unknown until it does", "crd", dependencyv1alpha1.CRDName, "cause", cause.Error())
	} else {
		log.FromContext(ctx).V(1).Info("The hub serves ManagedClusterFacts")
	}
	if i.options.Turned != nil {
		i.options.Turned(state)
	}
}
