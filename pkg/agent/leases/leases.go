// Package leases watches the leases of add-ons: those that are asked for, each
// by a watch of its own, and no others.
package leases

import (
	"context"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationv1client "k8s.io/client-go/kubernetes/typed/coordination/v1"

	"open-cluster-management.io/interlock/pkg/availability"
)

// askTimeout bounds a question to an API server that may be gone.
const askTimeout = 10 * time.Second

// Place is a cluster on which leases are kept.
type Place string

// The places of leases.
const (
	// Managed is the managed cluster itself.
	Managed Place = "managed"
	// Hosting is the cluster that runs the agents of hosted add-ons.
	Hosting Place = "hosting"
)

// Reference says where the lease of an add-on is. It has the add-on's name.
type Reference struct {
	Place           Place
	Namespace, Name string
}

// Watcher holds one watch for each add-on that has asked for one. It is safe
// for concurrent use.
type Watcher struct {
	clients map[Place]coordinationv1client.LeasesGetter
	changed func(name string)

	mutex   sync.Mutex
	watches map[string]*watch
	stopped bool
	running sync.WaitGroup
}

// New returns a watcher without any watch. It calls changed with a lease's
// name whenever what is known of it has changed; changed must not block.
func New(managed, hosting coordinationv1client.LeasesGetter, changed func(name string)) *Watcher {
	return &Watcher{
		clients: map[Place]coordinationv1client.LeasesGetter{Managed: managed, Hosting: hosting},
		changed: changed,
		watches: map[string]*watch{},
	}
}

// Observe returns what is known of a lease, and watches it from now on, in
// place of any other lease of that name. It does not wait for an API server:
// as long as that has not answered, the lease is unobserved.
func (w *Watcher) Observe(reference Reference) availability.Lease {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.stopped {
		return availability.Lease{}
	}
	current, ok := w.watches[reference.Name]
	if ok && current.reference == reference {
		return current.state()
	}
	if ok {
		current.cancel()
	}
	ctx, cancel := context.WithCancel(context.Background())
	started := &watch{reference: reference, cancel: cancel, changed: func() { w.changed(reference.Name) }}
	w.watches[reference.Name] = started
	w.running.Go(func() { started.run(ctx, w.clients[reference.Place].Leases(reference.Namespace)) })
	return started.state()
}

// Ask reads a lease from its API server. A watch cannot tell a lease that is
// no longer renewed from an API server that is no longer heard of; who is
// about to say that an add-on has died should ask first.
func (w *Watcher) Ask(ctx context.Context, reference Reference) (availability.Lease, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	lease, err := w.clients[reference.Place].Leases(reference.Namespace).Get(ctx, reference.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return availability.Lease{State: availability.LeaseNotFound}, nil
	case err != nil:
		return availability.Lease{}, fmt.Errorf("read lease %s/%s on the %s cluster: %w",
			reference.Namespace, reference.Name, reference.Place, err)
	}
	return found(lease), nil
}

// Forget ends the watch on the lease of that name, if there is one.
func (w *Watcher) Forget(name string) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if current, ok := w.watches[name]; ok {
		current.cancel()
		delete(w.watches, name)
	}
}

// Start implements manager.Runnable: it ends all watches with the context, and
// returns when they have ended.
func (w *Watcher) Start(ctx context.Context) error {
	<-ctx.Done()
	w.mutex.Lock()
	w.stopped = true
	for _, current := range w.watches {
		current.cancel()
	}
	clear(w.watches)
	w.mutex.Unlock()
	w.running.Wait()
	return nil
}
