package graft

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/log"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/informerstop"
)

// After its CRD has changed, an API server serves the watches of before for
// about a second more, and everything that they tell still lacks the fields
// that were added. No later event corrects that: to a watch that goes on, the
// object has not changed. So registered add-ons are listed again, twice, should
// an API server be late, and who depends on them is told, as an informer does
// not tell of objects whose resourceVersion is the same.
var (
	rereadAfter = []time.Duration{time.Second, 9 * time.Second} // each after the one before
	settled     = 3 * time.Second                               // what a list may take
)

// Rereader has a cache list all ClusterManagementAddOns again when their CRD
// has changed. It runs in every replica: one that takes over has them right.
type Rereader struct {
	// Told gets an event after each list.
	Told chan event.GenericEvent

	objects metadata.Interface
	changes chan struct{}
	stale   atomic.Bool
	mutex   sync.Mutex
	expired chan struct{}
}

// NewRereader returns a rereader that is still to be set up.
func NewRereader() *Rereader {
	return &Rereader{Told: make(chan event.GenericEvent, 1), changes: make(chan struct{}, 1), expired: make(chan struct{})}
}

// SetupWithManager lets the manager run it in every replica.
func (r *Rereader) SetupWithManager(mgr ctrl.Manager) (err error) {
	if r.objects, err = metadata.NewForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient()); err != nil {
		return fmt.Errorf("create metadata client: %w", err)
	}
	if err := mgr.Add(r); err != nil {
		return fmt.Errorf("add rereader of registered add-ons: %w", err)
	}
	return nil
}

// NewInformer is for the options of the cache. Informers of other types are as
// they would be without it.
func (r *Rereader) NewInformer(lw cache.ListerWatcher, object runtime.Object, resync time.Duration, indexers cache.Indexers) cache.SharedIndexInformer {
	if _, ok := object.(*addonv1alpha1.ClusterManagementAddOn); !ok {
		return informerstop.NewInformer(lw, object, resync, indexers)
	}
	inner := cache.ToListerWatcherWithContext(lw)
	return informerstop.NewInformer(&cache.ListWatch{
		ListWithContextFunc: inner.ListWithContext,
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			expired := r.current()
			stream, err := inner.WatchWithContext(ctx, options)
			if err != nil {
				return nil, err
			}
			return newExpiring(stream, expired), nil
		},
	}, object, resync, indexers)
}

func (r *Rereader) current() <-chan struct{} {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.expired
}

// expire ends all watches in a way that has their reflectors list again.
func (r *Rereader) expire() {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	close(r.expired)
	r.expired = make(chan struct{})
}

// Start implements manager.Runnable.
func (r *Rereader) Start(ctx context.Context) error {
	informer := informerOf(r.objects, crdResource, CRDName)
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		UpdateFunc: func(before, after any) {
			if generation(before) != generation(after) {
				r.Changed()
			}
		},
	})
	if err != nil {
		return fmt.Errorf("watch CRD %s: %w", CRDName, err)
	}
	go informer.RunWithContext(ctx)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-r.changes:
			log.FromContext(ctx).V(1).Info("CRD has changed: its objects are read again", "crd", CRDName)
			r.reread(ctx)
		}
	}
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (*Rereader) NeedLeaderElection() bool { return false }

// reread begins anew when the CRD changes again meanwhile.
func (r *Rereader) reread(ctx context.Context) {
	for next := 0; next < len(rereadAfter) && ctx.Err() == nil; next++ {
		changed := r.wait(ctx, rereadAfter[next])
		if !changed {
			r.expire()
			changed = r.wait(ctx, settled)
		}
		if changed {
			next = -1
			continue
		}
		r.stale.Store(false)
		r.tell()
	}
}

// wait ends early when the context does or, which it reports, the CRD changes.
func (r *Rereader) wait(ctx context.Context, delay time.Duration) (changed bool) {
	select {
	case <-ctx.Done():
		return false
	case <-r.changes:
		return true
	case <-time.After(delay):
		return false
	}
}

// Changed has everything read again. Until it is, Stale reports true.
func (r *Rereader) Changed() {
	select {
	case r.changes <- struct{}{}:
	default: // it will be, anyway
	}
	r.stale.Store(true) // last, so that no end of an earlier reading can undo it
}

// Stale reports whether what is cached may be of before a change of the CRD.
func (r *Rereader) Stale() bool { return r.stale.Load() }

func (r *Rereader) tell() {
	select {
	case r.Told <- event.GenericEvent{Object: &addonv1alpha1.ClusterManagementAddOn{}}:
	default: // nobody has taken the last one yet, and will see this too
	}
}

func generation(object any) int64 {
	if crd, ok := object.(*metav1.PartialObjectMetadata); ok {
		return crd.Generation
	}
	return 0
}

// expiring is a watch that can be told to report that it is too old.
type expiring struct {
	inner  watch.Interface
	result chan watch.Event
	stop   chan struct{}
	once   sync.Once
}

func newExpiring(inner watch.Interface, expired <-chan struct{}) *expiring {
	w := &expiring{inner: inner, result: make(chan watch.Event), stop: make(chan struct{})}
	go w.forward(expired)
	return w
}

// Stop implements watch.Interface.
func (w *expiring) Stop() { w.once.Do(func() { close(w.stop) }) }

// ResultChan implements watch.Interface.
func (w *expiring) ResultChan() <-chan watch.Event { return w.result }

func (w *expiring) forward(expired <-chan struct{}) {
	defer close(w.result)
	defer w.inner.Stop()
	for {
		var next watch.Event
		var open bool
		select {
		case <-w.stop:
			return
		case <-expired:
			status := apierrors.NewResourceExpired("the CRD has changed").Status()
			next, expired = watch.Event{Type: watch.Error, Object: &status}, nil
		case next, open = <-w.inner.ResultChan():
			if !open {
				return
			}
		}
		select {
		case <-w.stop:
			return
		case w.result <- next:
		}
	}
}
