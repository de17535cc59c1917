// Package degraded keeps the Degraded condition of every add-on on every
// managed cluster true to the state of its dependencies there.
package degraded

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	conditionwriter "open-cluster-management.io/interlock/pkg/condition"
	"open-cluster-management.io/interlock/pkg/contention"
	"open-cluster-management.io/interlock/pkg/dependency/condition"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/hub/declarations"
	"open-cluster-management.io/interlock/pkg/hub/fleet"
	"open-cluster-management.io/interlock/pkg/hub/metrics"
	"open-cluster-management.io/interlock/pkg/hub/outage"
)

// FieldManager is the name under which addon-manager owns Degraded.
const FieldManager = "interlock-addon-manager"

// afterConflict brings the add-on back once the cache has had time to catch up
// with a write of somebody else's that came first; such a write need not be one
// that wakes us. The queue's own backoff bounds what a busy writer can cause.
var afterConflict = reconcile.Result{Requeue: true}

// Reconciler decides and applies the Degraded condition of one add-on on one
// managed cluster.
type Reconciler struct {
	Clock        clock.PassiveClock
	Fleet        fleet.Reader
	Writer       conditionwriter.Writer
	Declarations *declarations.Store
	Contention   *contention.Tracker
	Metrics      *metrics.Metrics
	Recorder     events.EventRecorder
	// EventPace lets events on transitions happen or not; nil lets all happen.
	EventPace flowcontrol.PassiveRateLimiter
	Offline   evaluation.OfflinePolicy
	// Outages remembers losses of clusters, by the hub's clock.
	Outages *outage.Tracker
	// Configs tells whether AddOnDeploymentConfigs can be read, OCM the hub's version.
	Configs Configs
	OCM     OCM
	// Templates has the versions of AddOnTemplates.
	Templates Templates
	rollouts  rollouts
	// Registrations reads ClusterManagementAddOns from the API server.
	Registrations client.Reader
	undeclared    undeclared
	// Facts tells what agents have answered; nil where nobody asks them.
	Facts Facts
}

// Reconcile evaluates the add-on of the key and writes Degraded if it changed.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	key := request.NamespacedName
	catalog, err := r.Declarations.Wait(ctx)
	if err != nil {
		return reconcile.Result{}, err
	}
	started := r.Clock.Now()
	addOn, err := r.Fleet.AddOn(ctx, key)
	if err != nil {
		return reconcile.Result{}, err
	}
	if addOn == nil {
		r.Metrics.Gone(key)
		r.Contention.Forget(key)
		return reconcile.Result{}, nil
	}
	findings, err := r.evaluate(ctx, catalog, key, started)
	if err != nil {
		return reconcile.Result{}, err
	}
	r.Metrics.Found(key, findings)
	desired, changed := condition.Decide(fleet.Degraded(addOn), findings, metav1.NewTime(started))
	r.Metrics.Evaluated(r.Clock.Since(started))
	if !changed {
		return r.after(evaluation.HeldUntil(findings)), nil
	}
	if len(findings) == 0 {
		switch confirmed, err := r.undeclared.confirm(ctx, r.Registrations, key.Name, started); {
		case err != nil:
			return reconcile.Result{}, err
		case !confirmed:
			return afterConflict, nil
		}
	}
	if wait := r.Contention.Wait(key, condition.WithoutForeign(desired)); wait > 0 {
		return reconcile.Result{RequeueAfter: wait}, nil
	}
	return r.write(ctx, addOn, desired)
}

// after returns the result that brings the add-on back at that moment, if any.
func (r *Reconciler) after(moment time.Time) reconcile.Result {
	if moment.IsZero() {
		return reconcile.Result{}
	}
	// A moment that has passed meanwhile is as good as now; zero would be never.
	return reconcile.Result{RequeueAfter: max(moment.Sub(r.Clock.Now()), time.Nanosecond)}
}

// write applies the condition and tells of it.
func (r *Reconciler) write(ctx context.Context, addOn *addonv1alpha1.ManagedClusterAddOn, desired metav1.Condition) (reconcile.Result, error) {
	key := client.ObjectKeyFromObject(addOn)
	switch err := r.Writer.Apply(ctx, FieldManager, addOn, desired); {
	case apierrors.IsConflict(err):
		r.Metrics.Wrote(addOn.Name, desired.Reason, metrics.WriteConflict)
		return afterConflict, nil
	case apierrors.IsNotFound(err):
		// Deleted since it was read; its own event cleans up.
		return reconcile.Result{}, nil
	case err != nil:
		r.Metrics.Wrote(addOn.Name, desired.Reason, metrics.WriteError)
		return reconcile.Result{}, fmt.Errorf("write Degraded=%s/%s of %s: %w", desired.Status, desired.Reason, key, err)
	}
	r.Metrics.Wrote(addOn.Name, desired.Reason, metrics.WriteSuccess)
	log.FromContext(ctx).Info("Degraded changed", "status", desired.Status, "reason", desired.Reason, "message", desired.Message)
	if r.Contention.Wrote(key, condition.WithoutForeign(desired)) {
		r.Metrics.Contested(addOn.Name)
		r.tellContested(addOn)
		return reconcile.Result{}, nil
	}
	r.tellTransition(addOn, desired)
	return reconcile.Result{}, nil
}
