// Package acting has what the controllers share that decide on an add-on each time it has been evaluated, and write one of its
// conditions: those of gates, bundles and upgrades.
package acting

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/backoff"
	"open-cluster-management.io/interlock/pkg/condition"
	"open-cluster-management.io/interlock/pkg/controllers"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/hub/declarations"
	"open-cluster-management.io/interlock/pkg/hub/hubcache"
	"open-cluster-management.io/interlock/pkg/trigger"
)

// workers is how many add-ons each controller decides on at a time: as many as are evaluated at a time by default, because an
// add-on that may be installed must not wait for messages of others.
const workers = 16

// Installed is an add-on on a managed cluster.
type Installed = *addonv1alpha1.ManagedClusterAddOn

// AddOns is how such a controller reads and writes add-ons.
type AddOns struct {
	Clock        clock.PassiveClock
	Fleet        hubcache.Reader
	Declarations *declarations.Store
	Loader       fleet.Loader
	Conditions   condition.Writer
	Backoff      *backoff.Tracker
	// Evaluate triggers the controller.
	Evaluate *trigger.Trigger
}

// Setup registers the controller. It begins with every add-on that concerns it. Such an add-on is decided on when it changes itself;
// its evaluation enqueues it for everything else.
func (a AddOns) Setup(mgr ctrl.Manager, name string, reconciler reconcile.Reconciler, concerns func(Installed) bool) error {
	return controllers.Setup(mgr, name, reconciler, workers, controllers.RetryOnHub, a.Evaluate.Source(), changes(mgr.GetCache(), concerns))
}

func changes(of cache.Cache, concerns func(Installed) bool) source.SyncingSource {
	return source.Kind(of, &addonv1alpha1.ManagedClusterAddOn{},
		&handler.TypedEnqueueRequestForObject[Installed]{}, predicate.NewTypedPredicateFuncs(concerns))
}

// EnqueueIf enqueues an add-on that has been evaluated, if it concerns the controller.
func (a AddOns) EnqueueIf(concerns func(Installed) bool, key types.NamespacedName) {
	found, err := a.Fleet.AddOn(context.Background(), key) // of the cache
	if err == nil && found != nil && concerns(found) {
		a.Evaluate.Enqueue(key)
	}
}

// Read returns the add-on of a key, and what is declared. nil: the add-on is gone, or is being deleted.
func (a AddOns) Read(ctx context.Context, key types.NamespacedName) (Installed, *evaluation.Evaluator, error) {
	declared, err := a.Declarations.Wait(ctx)
	if err != nil {
		return nil, nil, err
	}
	addOn, err := a.Fleet.AddOn(ctx, key)
	if err != nil {
		return nil, nil, err
	}
	if addOn == nil || !addOn.DeletionTimestamp.IsZero() {
		a.Backoff.Forget(key)
		return nil, declared, nil
	}
	return addOn, declared, nil
}

// Condition is what such a controller writes.
type Condition struct {
	metav1.Condition
	// Owner is the field manager of the write.
	Owner string
	// Mode is which component checks the health of the add-on from now on; empty: it stays.
	Mode ocmv1alpha1.HealthCheckMode
	// Kind is what the add-on is, as in "bundle"; empty: any add-on.
	Kind string
}

// Write writes a condition, after a time if another writer has just overwritten it. The event of that write brings the add-on
// back. now is the resourceVersion that it was stored with; empty: it was not.
func (a AddOns) Write(ctx context.Context, addOn Installed, desired Condition) (now string, result reconcile.Result, err error) {
	key := client.ObjectKeyFromObject(addOn)
	if wait := a.Backoff.Wait(key, desired.Condition); wait > 0 {
		return "", reconcile.Result{RequeueAfter: wait}, nil
	}
	of, changed := key.String(), desired.Type
	if desired.Kind != "" {
		of, changed = desired.Kind+" "+of, desired.Type+" of a "+desired.Kind
	}
	if now, err = a.Conditions.ApplyChecked(ctx, desired.Owner, addOn, desired.Condition, desired.Mode); err != nil {
		result, err = Unwritten(err, fmt.Sprintf("write %s=%s/%s of %s", desired.Type, desired.Status, desired.Reason, of))
		return "", result, err
	}
	a.Backoff.Wrote(key, desired.Condition)
	log.FromContext(ctx).Info(changed+" changed", "status", desired.Status, "reason", desired.Reason, "message", desired.Message)
	return now, reconcile.Result{}, nil
}

// Unwritten is what follows from a write of an add-on that failed. If another writer was faster, it is decided again.
func Unwritten(err error, what string) (reconcile.Result, error) {
	switch {
	case apierrors.IsConflict(err):
		return controllers.AfterConflict, nil
	case apierrors.IsNotFound(err): // deleted since it was read
		return reconcile.Result{}, nil
	}
	return reconcile.Result{}, fmt.Errorf("%s: %w", what, err)
}
