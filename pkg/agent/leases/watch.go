package leases

import (
	"context"
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	coordinationv1client "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/tools/cache"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/availability"
	"open-cluster-management.io/interlock/pkg/kube/informerstop"
)

// watch is the watch on one lease, and the store of its reflector. Of the lease, it keeps only the renewal time and the version.
type watch struct {
	watcher   *Watcher
	reference Reference
	cancel    context.CancelFunc

	// The watcher's mutex protects the fields below.
	lease    availability.Lease
	reported Version
}

// versionOf returns the version that a lease reports.
func versionOf(lease *coordinationv1.Lease) Version {
	if version := lease.Annotations[addonv1alpha1.AddOnVersionAnnotation]; strings.TrimSpace(version) != "" {
		return Version{State: availability.LeaseFound, Reported: version}
	}
	version := lease.Annotations[addonv1alpha1.FormerVersionAnnotation]
	return Version{State: availability.LeaseFound, Reported: version, Former: version != ""}
}

// run watches until the context ends. When the API server is down, the reflector
// retries with a growing delay and then lists again.
func (w *watch) run(ctx context.Context, client coordinationv1client.LeaseInterface) {
	// RBAC treats a watch with this selector like one on the name, so a role with
	// resourceNames is enough.
	selector := fields.OneTermEqualSelector(metav1.ObjectNameField, w.reference.Name).String()
	source := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			options.FieldSelector = selector
			return client.List(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (apiwatch.Interface, error) {
			options.FieldSelector = selector
			return client.Watch(ctx, options)
		},
	}
	reflector := cache.NewReflectorWithOptions(cache.ToListWatcherWithWatchListSemantics(source, client), &coordinationv1.Lease{}, w,
		cache.ReflectorOptions{Name: "lease " + w.reference.Namespace + "/" + w.reference.Name})
	informerstop.Run(ctx, reflector.RunWithContext)
}

// set stores the observed state, and calls the watcher's functions for which the lease is watched.
func (w *watch) set(lease availability.Lease, reported Version) {
	w.watcher.mutex.Lock()
	changed := w.reported != reported
	w.lease, w.reported = lease, reported
	health, version := w.watcher.needed(w.reference)
	w.watcher.mutex.Unlock()
	if health {
		w.watcher.renewed(w.reference.Name)
	}
	if version && changed {
		w.watcher.versioned(w.reference.Name)
	}
}

// Add implements cache.ReflectorStore, as do all methods below.
func (w *watch) Add(object any) error { return w.Update(object) }

// Update stores the health and the version of the new lease.
func (w *watch) Update(object any) error {
	if lease, ok := object.(*coordinationv1.Lease); ok {
		w.set(healthOf(lease), versionOf(lease))
	}
	return nil
}

// Delete stores that there is no lease.
func (w *watch) Delete(any) error {
	w.set(availability.Lease{State: availability.LeaseNotFound}, Version{State: availability.LeaseNotFound})
	return nil
}

// Replace is called with the first list, and with each list after an interruption.
func (w *watch) Replace(objects []any, _ string) error {
	if len(objects) == 0 {
		return w.Delete(nil)
	}
	return w.Update(objects[0])
}

// Resync does nothing: the store keeps no objects to emit again.
func (w *watch) Resync() error { return nil }

func healthOf(lease *coordinationv1.Lease) availability.Lease {
	observed := availability.Lease{State: availability.LeaseFound}
	if lease.Spec.RenewTime != nil {
		renewed := lease.Spec.RenewTime.Time
		observed.RenewTime = &renewed
	}
	return observed
}
