// Package leases watches the leases of add-ons. Each lease that a controller needs has a watch of its own. Other leases are not
// watched.
package leases

import (
	"context"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationv1client "k8s.io/client-go/kubernetes/typed/coordination/v1"

	"open-cluster-management.io/interlock/pkg/agent/addons"
	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/availability"
)

// readTimeout bounds a request to an API server that may be down.
const readTimeout = 10 * time.Second

// Place is a cluster on which leases are kept.
type Place string

// The places of leases.
const (
	// Managed is the managed cluster itself.
	Managed Place = "managed"
	// Hosting is the cluster that runs the agents of hosted add-ons.
	Hosting Place = "hosting"
)

// Reference is the location of an add-on's lease. The lease has the add-on's name.
type Reference struct {
	Place           Place
	Namespace, Name string
}

// ReferenceOf returns the reference of an add-on's lease.
func ReferenceOf(addOn *addonv1alpha1.ManagedClusterAddOn) Reference {
	place := Managed
	if addons.HostingCluster(addOn) != "" {
		place = Hosting
	}
	return Reference{Place: place, Namespace: availability.InstallNamespace(addOn), Name: addOn.Name}
}

// Version is the version of an add-on as its lease reports it.
type Version struct {
	// State is the state of the lease.
	State availability.LeaseState
	// Reported is the version annotation, as the add-on wrote it. It is empty if there is none.
	Reported string
	// Former means that the lease has the version under the annotation's former key only.
	Former bool
}

// Watcher watches each lease that a controller needs by itself. It is safe for
// concurrent use.
type Watcher struct {
	clients            map[Place]coordinationv1client.LeasesGetter
	renewed, versioned func(addOn string)

	mutex sync.Mutex
	// forHealth and forVersion are the leases that are needed, by add-on.
	forHealth, forVersion map[string]Reference
	watches               map[Reference]*watch
	// begin runs a function until it is canceled. It is nil unless the watcher runs.
	begin   func(run func(ctx context.Context)) context.CancelFunc
	running sync.WaitGroup
}

// New returns a watcher without any watch. It calls renewed with the add-on of a
// lease that is watched for its health, whenever the lease changed. It calls
// versioned with the add-on of a lease that is watched for its version, when the
// version changed, or whether there is a lease. Neither may block.
func New(managed, hosting coordinationv1client.LeasesGetter, renewed, versioned func(addOn string)) *Watcher {
	return &Watcher{
		clients: map[Place]coordinationv1client.LeasesGetter{Managed: managed, Hosting: hosting},
		renewed: renewed, versioned: versioned,
		forHealth: map[string]Reference{}, forVersion: map[string]Reference{}, watches: map[Reference]*watch{},
	}
}

// Watch watches a lease for the health of its add-on, in place of any other lease
// of that name. It does not wait for the API server.
func (w *Watcher) Watch(reference Reference) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.forHealth[reference.Name] = reference
	w.adjust()
}

// Unwatch ends the watch for the health of the add-on.
func (w *Watcher) Unwatch(addOn string) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	delete(w.forHealth, addOn)
	w.adjust()
}

// WatchVersions watches these leases for the versions that they report, and no
// other lease for its version.
func (w *Watcher) WatchVersions(references []Reference) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	clear(w.forVersion)
	for _, reference := range references {
		w.forVersion[reference.Name] = reference
	}
	w.adjust()
}

// adjust begins the watches that are missing, and ends those that are not needed. The caller of adjust and needed must have locked
// the mutex.
func (w *Watcher) adjust() {
	if w.begin == nil {
		return
	}
	for reference, current := range w.watches {
		if health, version := w.needed(reference); !health && !version {
			current.cancel()
			delete(w.watches, reference)
		}
	}
	for _, references := range []map[string]Reference{w.forHealth, w.forVersion} {
		for _, reference := range references {
			if w.watches[reference] != nil {
				continue
			}
			started := &watch{watcher: w, reference: reference}
			w.watches[reference] = started
			started.cancel = w.begin(func(ctx context.Context) { started.run(ctx, w.clients[reference.Place].Leases(reference.Namespace)) })
		}
	}
}

// needed reports whether a lease is watched for its health, and whether it is watched for its version.
func (w *Watcher) needed(reference Reference) (health, version bool) {
	return w.forHealth[reference.Name] == reference, w.forVersion[reference.Name] == reference
}

// Lease returns the last observed state of a lease. It is unobserved as long as the lease is not watched, or its API server has not
// responded.
func (w *Watcher) Lease(reference Reference) availability.Lease {
	lease, _ := w.observed(reference)
	return lease
}

// Version returns the version that a lease reports, as it was last observed.
func (w *Watcher) Version(reference Reference) Version {
	_, version := w.observed(reference)
	return version
}

func (w *Watcher) observed(reference Reference) (availability.Lease, Version) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if current := w.watches[reference]; current != nil {
		return current.lease, current.reported
	}
	return availability.Lease{}, Version{}
}

// Read reads a lease from its API server. A lease that is no longer renewed and an
// API server that can no longer be reached look the same to a watch.
func (w *Watcher) Read(ctx context.Context, reference Reference) (availability.Lease, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
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

// Start implements manager.Runnable: it begins the watches that are needed, ends all
// of them with the context, and returns when they have ended.
func (w *Watcher) Start(ctx context.Context) error {
	w.mutex.Lock()
	w.begin = func(run func(context.Context)) context.CancelFunc {
		watchCtx, cancel := context.WithCancel(ctx)
		w.running.Go(func() { run(watchCtx) })
		return cancel
	}
	w.adjust()
	w.mutex.Unlock()
	<-ctx.Done()
	w.mutex.Lock()
	w.begin = nil
	for _, current := range w.watches {
		current.cancel()
	}
	clear(w.watches)
	w.mutex.Unlock()
	w.running.Wait()
	return nil
}
