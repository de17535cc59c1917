package simulator

import (
	"context"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	coordinationv1client "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/utils/ptr"
)

// leaseEvents is the number of unread changes that a watch of one lease can buffer.
const leaseEvents = 100

// Leases are the leases of the add-ons on one managed cluster, in memory, in place of its API server. They are safe
// for concurrent use.
type Leases struct {
	mutex   sync.Mutex
	leases  map[string]*coordinationv1.Lease
	watches map[*leaseWatch]struct{}
}

// leaseWatch is an open watch on one lease.
type leaseWatch struct {
	leases *Leases
	name   string
	events chan watch.Event
}

// ResultChan implements watch.Interface.
func (w *leaseWatch) ResultChan() <-chan watch.Event { return w.events }

// Stop implements watch.Interface.
func (w *leaseWatch) Stop() {
	w.leases.mutex.Lock()
	defer w.leases.mutex.Unlock()
	delete(w.leases.watches, w)
}

// NewLeases returns fresh leases for the add-ons.
func NewLeases(addOns []AddOn) *Leases {
	leases := &Leases{leases: map[string]*coordinationv1.Lease{}, watches: map[*leaseWatch]struct{}{}}
	for _, addOn := range addOns {
		leases.Renew(addOn.Name)
	}
	return leases
}

// Renew renews the lease, like an add-on that runs.
func (l *Leases) Renew(addOn string) { l.set(addOn, time.Now()) }

// Stop sets the lease of an add-on to a time long ago, as if the add-on had died.
func (l *Leases) Stop(addOn string) { l.set(addOn, time.Now().Add(-24*time.Hour)) }

// RenewIfAlive is Renew for an add-on that has not been stopped.
func (l *Leases) RenewIfAlive(addOn string) {
	l.mutex.Lock()
	lease, ok := l.leases[addOn]
	l.mutex.Unlock()
	if ok && time.Since(lease.Spec.RenewTime.Time) < leaseGrace {
		l.Renew(addOn)
	}
}

func (l *Leases) set(addOn string, renewed time.Time) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: addOnNamespace, Name: addOn, ResourceVersion: "1"}}
	lease.Spec.RenewTime = ptr.To(metav1.NewMicroTime(renewed))
	l.leases[addOn] = lease
	for open := range l.watches {
		if open.name == addOn {
			open.events <- watch.Event{Type: watch.Modified, Object: lease}
		}
	}
}

// Leases implements the client of leases. All namespaces are the same.
func (l *Leases) Leases(string) coordinationv1client.LeaseInterface {
	return leaseClient{leases: l}
}

// leaseClient implements the methods of the client that an agent uses.
type leaseClient struct {
	coordinationv1client.LeaseInterface

	leases *Leases
}

// IsWatchListSemanticsUnSupported makes reflectors list and then watch.
func (leaseClient) IsWatchListSemanticsUnSupported() bool { return true }

// Get implements the client of leases.
func (c leaseClient) Get(_ context.Context, name string, _ metav1.GetOptions) (*coordinationv1.Lease, error) {
	c.leases.mutex.Lock()
	defer c.leases.mutex.Unlock()
	if lease, ok := c.leases.leases[name]; ok {
		return lease, nil
	}
	return nil, apierrors.NewNotFound(coordinationv1.Resource("leases"), name)
}

// List implements the client of leases, for one lease.
func (c leaseClient) List(ctx context.Context, options metav1.ListOptions) (*coordinationv1.LeaseList, error) {
	list := &coordinationv1.LeaseList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}}
	lease, err := c.Get(ctx, nameIn(options), metav1.GetOptions{})
	if err == nil {
		list.Items = append(list.Items, *lease)
	}
	return list, nil
}

// Watch implements the client of leases, for one lease. It begins with the present lease, so that no change since the
// list is lost.
func (c leaseClient) Watch(_ context.Context, options metav1.ListOptions) (watch.Interface, error) {
	open := &leaseWatch{leases: c.leases, name: nameIn(options), events: make(chan watch.Event, leaseEvents)}
	c.leases.mutex.Lock()
	defer c.leases.mutex.Unlock()
	if lease, ok := c.leases.leases[open.name]; ok {
		open.events <- watch.Event{Type: watch.Modified, Object: lease}
	}
	c.leases.watches[open] = struct{}{}
	return open, nil
}

func nameIn(options metav1.ListOptions) string {
	selector, err := fields.ParseSelector(options.FieldSelector)
	if err != nil {
		return ""
	}
	name, _ := selector.RequiresExactMatch(metav1.ObjectNameField)
	return name
}
