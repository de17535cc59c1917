// Package ondemand installs add-ons on managed clusters because add-ons there need them, and removes them when no
// add-on needs them. It stores its actions in AddOnInstallations before it takes them.
package ondemand

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/hub/assess"
	"open-cluster-management.io/interlock/pkg/hub/declarations"
	"open-cluster-management.io/interlock/pkg/hub/firstpass"
	"open-cluster-management.io/interlock/pkg/hub/hubcache"
	"open-cluster-management.io/interlock/pkg/hub/lifecycle/approval"
	"open-cluster-management.io/interlock/pkg/kube/controllers"
	"open-cluster-management.io/interlock/pkg/kube/leadership"
	"open-cluster-management.io/interlock/pkg/kube/trigger"
)

// Everything is the key of all add-ons on all managed clusters, for a change of the catalog or of policies. A key without
// a namespace requests the events about approvals of an add-on.
var Everything = types.NamespacedName{}

// Reconciler decides on the installation of one add-on on one managed cluster, stores the decision, and carries it out.
type Reconciler struct {
	Clock        clock.PassiveClock
	Inputs       hubcache.Inputs
	Declarations *declarations.Store
	Assessor     assess.Assessor
	Assessments  *assess.Store
	// Stored is the cache of AddOnInstallations. Objects reads from it.
	Stored   cache.Cache
	Objects  client.Reader
	Live     client.Reader
	Writer   client.Client
	Recorder events.EventRecorder
	Metrics  *Metrics
	// InstallationEvents and RemovalEvents emit events on changes that wait for an approval.
	InstallationEvents, RemovalEvents approval.Events
	// Changed enqueues add-ons in this controller. Evaluate enqueues dependents in the controller that writes their
	// conditions.
	Changed, Evaluate *trigger.Trigger
	// FirstPass ends after this leader has assessed each add-on. It is nil if that is not awaited.
	FirstPass *firstpass.Pass
	// RemovalDelay is the time for which an installed add-on has to be unused before it is removed.
	RemovalDelay time.Duration
	// Election confirms before each step that no other process leads.
	Election leadership.Election

	// complete is true if the wait of each installation is known.
	complete   atomic.Bool
	inProgress inProgress
	fleet      fleetBounds
	counts     counts
	missing    missing
	// installations and removals have the clusters on which add-ons wait for an approval.
	installations, removals clustersByAddOn
}

// Reconcile implements reconcile.Reconciler.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	evaluator, err := r.Declarations.Wait(ctx)
	if err != nil {
		return reconcile.Result{}, err
	}
	key, now := request.NamespacedName, r.Clock.Now()
	if !r.FirstPass.Await(firstpass.Everywhere, r.Changed, key) {
		return reconcile.Result{}, nil
	}
	excluded := excludedBy(evaluator, key)
	if !r.inProgress.begin(key, excluded...) {
		return reconcile.Result{RequeueAfter: busyRetry}, nil
	}
	defer r.inProgress.end(excluded...)
	var next time.Time
	switch {
	case key == Everything:
		err = r.enqueueAll(ctx, evaluator, now)
	case key.Namespace == "":
		next, err = r.reportApprovals(ctx, evaluator, key.Name, now)
	case !r.complete.Load(): // all add-ons are enqueued once the changes of a former leader are counted
	case evaluator.Consent(key.Name) == catalog.ConsentUnknown: // when the consent is known, everything is enqueued
	default:
		next, err = r.reconcile(ctx, evaluator, key, now)
	}
	if isBehind(err) {
		return controllers.AfterConflict, nil
	}
	return controllers.At(next, now), err
}

// reconcile decides on an installation, stores the decision, and carries it out.
func (r *Reconciler) reconcile(
	ctx context.Context, evaluator *evaluation.Evaluator, key types.NamespacedName, now time.Time,
) (time.Time, error) {
	s, err := r.load(ctx, evaluator, key)
	if err != nil {
		return time.Time{}, err
	}
	defer r.fleet.release(key.Namespace)
	decision, err := r.decide(ctx, evaluator, s, now)
	if err != nil {
		return time.Time{}, err
	}
	if err = r.carryOut(ctx, evaluator, s, decision); err == nil {
		r.emitGivenUp(s, decision)
	}
	if err == nil || isRefusal(err) {
		r.follow(s, decision, err != nil)
	}
	return decision.NextCheck, err
}

// isBehind reports whether a reconcile ended because the cache is behind the stored objects, or because another process leads.
func isBehind(err error) bool {
	return errors.Is(err, errCacheBehind) || errors.Is(err, leadership.ErrReplaced) || !isRefusal(err) && (apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err))
}
