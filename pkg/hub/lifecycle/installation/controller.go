// Package installation has add-ons installed on managed clusters because add-ons there need them, and removed once none does. What it has
// done is stored in AddOnInstallations, before it does it.
package installation

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"open-cluster-management.io/interlock/pkg/controllers"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/installation"
	"open-cluster-management.io/interlock/pkg/hub/assess"
	"open-cluster-management.io/interlock/pkg/hub/declarations"
	"open-cluster-management.io/interlock/pkg/hub/firstpass"
	"open-cluster-management.io/interlock/pkg/hub/hubcache"
	"open-cluster-management.io/interlock/pkg/trigger"
)

// Everything is the key of all add-ons on all managed clusters, for a change of the catalog or of policies.
var Everything = types.NamespacedName{}

// Reconciler decides on the installation of one add-on on one managed cluster, stores the decision, and carries it out.
type Reconciler struct {
	Clock        clock.PassiveClock
	Inputs       hubcache.Inputs
	Declarations *declarations.Store
	Assessor     assess.Assessor
	Assessments  *assess.Store
	Live         client.Reader
	Writer       client.Client
	Recorder     events.EventRecorder
	Metrics      *Metrics
	// Changed enqueues add-ons in this controller, and Evaluate dependents in the one that writes their conditions.
	Changed, Evaluate *trigger.Trigger
	// FirstPass ends once this leader has assessed each add-on; nil: it has.
	FirstPass *firstpass.Pass
	// RemovalDelay is how long what is installed has to be unused before it is removed.
	RemovalDelay time.Duration

	fleet fleetBounds
}

// Reconcile implements reconcile.Reconciler.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	declared, err := r.Declarations.Wait(ctx)
	if err != nil {
		return reconcile.Result{}, err
	}
	if request.NamespacedName == Everything {
		return reconcile.Result{}, r.enqueueAll(ctx, declared)
	}
	if !r.FirstPass.Await(firstpass.Everywhere, r.Changed, request.NamespacedName) {
		return reconcile.Result{}, nil
	}
	now := r.Clock.Now()
	of, err := r.load(ctx, declared, request.NamespacedName)
	if err != nil {
		return reconcile.Result{}, err
	}
	decision, err := r.decide(ctx, declared, of, now)
	if err != nil {
		return reconcile.Result{}, err
	}
	r.waits(of, decision)
	err = r.carryOut(ctx, declared, of, decision)
	return controllers.At(decision.Again, now), errors.Join(err, r.emit(ctx, of, decision))
}

// decide decides on an installation. What costs more to find is only read where something would begin.
func (r *Reconciler) decide(ctx context.Context, declared *evaluation.Evaluator, of subject, now time.Time) (installation.Decision, error) {
	of.Approved, of.RemovalApproved = true, true
	decision := installation.Decide(of.Facts, now)
	if decision.Step == installation.Rest {
		return decision, nil
	}
	if err := r.loadBounds(ctx, declared, &of, decision.Step, now); err != nil {
		return installation.Decision{}, err
	}
	decision = installation.Decide(of.Facts, now)
	if again := r.fleet.next(of.key.Namespace, of.clusters, now); decision.Begins && !again.IsZero() {
		return decision.Delayed(of.Stored, again), nil
	}
	return decision, nil
}
