// Package leases watches the leases of add-ons: those that are asked for, each
// by a watch of its own, and no others.
package leases

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationv1client "k8s.io/client-go/kubernetes/typed/coordination/v1"

	"open-cluster-management.io/interlock/pkg/agent/addons"
	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
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

// Of returns the reference of an add-on's lease.
func Of(addOn *addonv1alpha1.ManagedClusterAddOn) Reference {
	place := Managed
	if addons.HostingCluster(addOn) != "" {
		place = Hosting
	}
	return Reference{Place: place, Namespace: addons.InstallNamespace(addOn), Name: addOn.Name}
}

// Version is what a lease says of the version of its add-on.
type Version struct {
	// State is what is known of the lease.
	State availability.LeaseState
	// Reported is the version annotation, as the add-on wrote it; empty if there
	// is none.
	Reported string
	// Former: the lease has it under the annotation's former key only.
	Former bool
}

// interest is why a lease is watched.
type interest int

const (
	inHealth interest = iota
	inVersion
)

// Watcher holds one watch for each add-on in whose lease anybody has an
// interest. It is safe for concurrent use.
type Watcher struct {
	clients map[Place]coordinationv1client.LeasesGetter
	wake    map[interest]func(name string)

	mutex   sync.Mutex
	watches map[string]*watch
	stopped bool
	running sync.WaitGroup
}

// New returns a watcher without any watch. It calls renewed with a lease's
// name whenever what is known of a lease that was observed has changed, and
// versioned when that is another version. Neither may block.
func New(managed, hosting coordinationv1client.LeasesGetter, renewed, versioned func(name string)) *Watcher {
	return &Watcher{
		clients: map[Place]coordinationv1client.LeasesGetter{Managed: managed, Hosting: hosting},
		wake:    map[interest]func(string){inHealth: renewed, inVersion: versioned},
		watches: map[string]*watch{},
	}
}

// Observe returns what is known of a lease, and watches it from now on, in
// place of any other lease of that name. It does not wait for an API server:
// as long as that has not answered, the lease is unobserved.
func (w *Watcher) Observe(reference Reference) availability.Lease {
	if observed := w.observe(reference, inHealth); observed != nil {
		return observed.health()
	}
	return availability.Lease{}
}

// ObserveVersion is Observe for who wants to know the version alone.
func (w *Watcher) ObserveVersion(reference Reference) Version {
	if observed := w.observe(reference, inVersion); observed != nil {
		return observed.version()
	}
	return Version{}
}

// observe returns the watch on the lease; nil after the end.
func (w *Watcher) observe(reference Reference, why interest) *watch {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.stopped {
		return nil
	}
	current, ok := w.watches[reference.Name]
	if ok && current.reference == reference {
		current.interests[why] = true
		return current
	}
	interests := map[interest]bool{why: true}
	if ok {
		current.cancel()
		maps.Copy(interests, current.interests)
	}
	ctx, cancel := context.WithCancel(context.Background())
	started := &watch{reference: reference, cancel: cancel, interests: interests}
	started.changed = func(versioned bool) { w.tell(started, versioned) }
	w.watches[reference.Name] = started
	w.running.Go(func() { started.run(ctx, w.clients[reference.Place].Leases(reference.Namespace)) })
	return started
}

// tell wakes who has an interest in what has changed.
func (w *Watcher) tell(changed *watch, versioned bool) {
	w.mutex.Lock()
	health, version := changed.interests[inHealth], changed.interests[inVersion] && versioned
	w.mutex.Unlock()
	if health {
		w.wake[inHealth](changed.reference.Name)
	}
	if version {
		w.wake[inVersion](changed.reference.Name)
	}
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
	return healthOf(lease), nil
}

// Forget ends the interest of who observed the lease of that name, and the
// watch on it when nobody else has one.
func (w *Watcher) Forget(name string) { w.forget(name, inHealth) }

// ForgetVersion is Forget for who observed the version.
func (w *Watcher) ForgetVersion(name string) { w.forget(name, inVersion) }

func (w *Watcher) forget(name string, why interest) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	current, ok := w.watches[name]
	if !ok {
		return
	}
	delete(current.interests, why)
	if len(current.interests) == 0 {
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
