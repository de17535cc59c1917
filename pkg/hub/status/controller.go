// Package status writes the conditions that Interlock sets on the hub, for every add-on on every managed cluster, and opens gates.
// Available of an add-on with an agent is set by that agent.
package status

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"golang.org/x/time/rate"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/condition/outcome"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/hub/assess"
	"open-cluster-management.io/interlock/pkg/hub/declarations"
	"open-cluster-management.io/interlock/pkg/hub/firstpass"
	"open-cluster-management.io/interlock/pkg/hub/metrics"
	"open-cluster-management.io/interlock/pkg/kube/backoff"
	"open-cluster-management.io/interlock/pkg/kube/conditionwriter"
	"open-cluster-management.io/interlock/pkg/kube/controllers"
	"open-cluster-management.io/interlock/pkg/kube/trigger"
)

// messagesAgain is the delay before a write of messages that exceeded the rate limit is tried again. Jitter adds up to the same time.
const messagesAgain = 10 * time.Second

// Reconciler assesses one add-on on one managed cluster, decides, and applies the differences.
type Reconciler struct {
	Clock        clock.PassiveClock
	Declarations *declarations.Store
	Assessor     assess.Assessor
	// Memory is the memory of the Assessor's loader.
	Memory *assess.Memory
	// Store gets each assessment. Optional controllers subscribe to it.
	Store *assess.Store
	// Client opens gates, and Live reads current declarations from the API server.
	Client  client.Client
	Live    client.Reader
	Writer  conditionwriter.Writer
	Backoff *backoff.Tracker
	// Messages limits the rate of writes that only change messages while the gate is closed, for all add-ons together.
	Messages *rate.Limiter
	Metrics  *metrics.Metrics
	Recorder events.EventRecorder
	// EventLimiter limits events on transitions. Without one, all are emitted.
	EventLimiter flowcontrol.PassiveRateLimiter
	// Concurrency is the number of add-ons that are assessed and written at the same time.
	Concurrency int
	// Guarded records whether the guard is in force.
	Guarded *Guarded
	// Evaluate triggers this controller.
	Evaluate *trigger.Trigger
	// FirstPass tracks the add-ons that exist at the start and have not been assessed yet.
	FirstPass *firstpass.Pass

	undeclared     undeclaredCache
	stuck          stuckTracker
	contradictions contradictionIndex
}

// Reconcile assesses the add-on of the key, and writes the difference to the decision: first the conditions, and then the gate. A process
// that stops between the two writes leaves a state that the next process completes.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	evaluator, err := r.Declarations.Wait(ctx)
	if err != nil {
		return reconcile.Result{}, err
	}
	subject, err := r.assess(ctx, evaluator, request.NamespacedName)
	if err != nil {
		r.FirstPass.Failed(request.NamespacedName)
		return reconcile.Result{}, err
	}
	r.FirstPass.Assessed(request.NamespacedName)
	if subject == nil {
		return reconcile.Result{}, nil
	}
	decision := outcome.Decide(subject.assessment, subject.stored, metav1.NewTime(subject.assessedAt))
	r.Metrics.Evaluated(r.Clock.Since(subject.assessedAt))
	next := controllers.Sooner(subject.assessment.Until, r.observeStuck(subject, decision))
	decision, postponed := decision.Postpone(func(desired metav1.Condition) time.Time { return r.notBefore(subject, desired) })
	switch {
	case decision.OnlyMessages(subject.stored) && !r.Messages.AllowN(subject.assessedAt, 1):
		return reconcile.Result{RequeueAfter: wait.Jitter(messagesAgain, 1)}, nil
	case !decision.Empty():
		return r.change(ctx, subject, decision)
	case r.Guarded.missed(subject.addOn):
		return r.writeForGuard(ctx, subject, decision)
	}
	return controllers.At(controllers.Sooner(next, postponed), r.Clock.Now()), nil
}

// assessedAddOn is an add-on with its assessment.
type assessedAddOn struct {
	key        types.NamespacedName
	addOn      *addonv1alpha1.ManagedClusterAddOn
	evaluator  *evaluation.Evaluator
	state      evaluation.State
	assessment outcome.Assessment
	stored     outcome.Stored
	assessedAt time.Time
	// reassessed is true if the previous assessment had findings on the same edges.
	reassessed bool
}

// assess assesses an add-on, and stores the assessment. It returns nil where the add-on does not exist.
func (r *Reconciler) assess(ctx context.Context, evaluator *evaluation.Evaluator, key types.NamespacedName) (*assessedAddOn, error) {
	addOn, err := r.Assessor.Fleet.AddOn(ctx, key)
	if err != nil {
		return nil, err
	}
	if addOn == nil {
		r.forget(key)
		return nil, nil
	}
	subject := &assessedAddOn{
		key:        key,
		addOn:      addOn,
		evaluator:  evaluator,
		stored:     fleet.Stored(addOn),
		assessedAt: r.Clock.Now(),
	}
	if subject.assessment, subject.state, err = r.Assessor.Assess(ctx, evaluator, addOn, subject.assessedAt); err != nil {
		return nil, err
	}
	if r.Assessor.Acts && fleet.HeldForContradiction(addOn) {
		r.contradictions.add(key)
	} else {
		r.contradictions.remove(key)
	}
	change := r.Store.Set(key, evaluator, subject.assessment)
	subject.reassessed = outcome.SameEdges(change.Before, change.After)
	return subject, nil
}

// review enqueues the add-ons on the managed cluster that contradict installed add-ons, if the assessment of another add-on there differs.
// The contradiction may have ended.
func (r *Reconciler) review(change assess.Change) {
	if !r.contradictions.hasAny() || !change.Differs() {
		return
	}
	for _, key := range r.contradictions.onCluster(change.AddOn.Namespace) {
		if key != change.AddOn {
			r.Evaluate.Enqueue(key)
		}
	}
}

// forget drops the memory of an add-on that was deleted.
func (r *Reconciler) forget(addOn types.NamespacedName) {
	r.Backoff.Forget(addOn)
	r.stuck.forget(addOn)
	r.contradictions.remove(addOn)
	r.Store.Delete(addOn)
}

// notBefore returns the time of the next write of a condition that another writer has just overwritten. Otherwise, it is zero.
func (r *Reconciler) notBefore(subject *assessedAddOn, desired metav1.Condition) time.Time {
	if wait := r.Backoff.Wait(subject.key, backoff.Condition(desired)); wait > 0 {
		return subject.assessedAt.Add(wait)
	}
	return time.Time{}
}
