// Package records keeps a record of each declaration by field in the annotation of
// the same add-on, where admission has not, and writes fields back that were lost.
// It is the only part of Interlock that writes ClusterManagementAddOns.
package records

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	k8sevents "k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/controllers"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/events"
	"open-cluster-management.io/interlock/pkg/trigger"
)

// Reasons of events on a ClusterManagementAddOn.
const (
	// EventRestored: fields were lost, and are written back.
	EventRestored = "DeclarationRestored"
	// EventRemoved: a record was removed that counted.
	EventRemoved = "DeclarationRemoved"
)

// Names of the metrics of records.
const (
	NameRestored = "interlock_declarations_restored_total"
	NameLost     = "interlock_declarations_lost"
)

// Help maps the name of each metric to its meaning.
var Help = map[string]string{
	NameRestored: "Times that fields of a ClusterManagementAddOn were lost and written back from their record.",
	NameLost:     "ClusterManagementAddOns that lack fields which their record has. Their record counts; reported by the leader.",
}

// The fields of a CRD are in use by every API server of the hub within settleTime.
// A pass that has left something to do is repeated after retryFirst, doubled each
// time up to retryLast.
const (
	settleTime = 10 * time.Second
	retryFirst = time.Second
	retryLast  = 10 * time.Minute
)

var key = types.NamespacedName{Name: "records"}

// Reconciler keeps the records of all registered add-ons. It has a single key.
type Reconciler struct {
	// Hub reads and writes registered add-ons without a cache.
	Hub      client.Client
	Recorder k8sevents.EventRecorder
	// Present reports whether the CRD has the fields, so that they can be written back.
	Present func() bool

	trigger  *trigger.Trigger
	crdChanged    atomic.Bool
	delay    time.Duration
	restored prometheus.Counter
	lost     prometheus.Gauge
}

// New returns a controller of the records on a hub.
func New(hub client.Client, recorder k8sevents.EventRecorder, registry prometheus.Registerer) *Reconciler {
	r := &Reconciler{
		Hub: hub, Recorder: recorder, trigger: trigger.New(),
		restored: prometheus.NewCounter(prometheus.CounterOpts{Name: NameRestored, Help: Help[NameRestored]}),
		lost:     prometheus.NewGauge(prometheus.GaugeOpts{Name: NameLost, Help: Help[NameLost]}),
	}
	registry.MustRegister(r.restored, r.lost)
	return r
}

// CRDChanged has all records read again, now and once every API server of the hub
// uses the changed CRD.
func (r *Reconciler) CRDChanged() {
	r.crdChanged.Store(true)
	r.trigger.Enqueue(key)
}

// SetupWithManager registers the controller, which runs in the leader only.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	return controllers.Setup(mgr, "records", r, 1, retryLast, r.trigger.Source(key),
		source.Kind(mgr.GetCache(), &addonv1alpha1.ClusterManagementAddOn{}, r.changes()))
}

type registration = *addonv1alpha1.ClusterManagementAddOn

// changes enqueues changes after which a record or fields are to be written, or one add-on
// less is counted as lost.
func (r *Reconciler) changes() handler.TypedFuncs[registration, reconcile.Request] {
	request := reconcile.Request{NamespacedName: key}
	return handler.TypedFuncs[registration, reconcile.Request]{
		CreateFunc: func(_ context.Context, e event.TypedCreateEvent[registration], q trigger.Queue) {
			if !declaration.Settled(e.Object) {
				q.Add(request)
			}
		},
		UpdateFunc: func(ctx context.Context, e event.TypedUpdateEvent[registration], q trigger.Queue) {
			// A watch may have delivered the add-on without fields that it had. Then their loss is no change.
			present := r.Present()
			if catalog.SameRegistration(e.ObjectOld, e.ObjectNew) && (!present || !declaration.Lost(e.ObjectNew)) {
				return
			}
			record := declaration.RemovedRecord(e.ObjectOld, e.ObjectNew, present)
			if record != "" && !present {
				r.reportRemoved(ctx, e.ObjectNew, record)
			}
			if record != "" || !declaration.Settled(e.ObjectNew) {
				q.Add(request)
			}
		},
	}
}

// reportRemoved reports what cannot be restored: an author who removes a record and a
// writer that replaces the object do the same.
func (r *Reconciler) reportRemoved(ctx context.Context, addOn registration, record string) {
	note := events.Note("The record of its fields was removed while spec lacks them, so nothing is declared any more. The record was: " + record)
	log.FromContext(ctx).Info("A declaration was removed with its record", "addOn", addOn.Name, "record", record)
	r.Recorder.Eventf(events.About(events.ClusterManagementAddOn, addOn), nil, corev1.EventTypeWarning, EventRemoved, "ReportRemoval",
		"%s", note)
}

// Reconcile makes the records that are missing, and restores what was lost. While the
// CRD is not grafted it only counts what is lost.
func (r *Reconciler) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	settling, present := r.crdChanged.Swap(false), r.Present()
	allowed := nothing // without a graft nothing loses fields, and without admission a record would outlive a removal
	if present {
		allowed = recordsAndFields
	}
	result, err := run(ctx, r.Hub, allowed)
	if err != nil {
		return reconcile.Result{}, err
	}
	r.lost.Set(float64(len(result.lost)))
	for _, addOn := range result.restored {
		r.restored.Inc()
		r.Recorder.Eventf(events.About(events.ClusterManagementAddOn, addOn), nil, corev1.EventTypeNormal, EventRestored, "RestoreDeclaration",
			"Fields of spec were lost, and are written back from the annotation %s. To remove them, set spec.dependencies: [], spec.requirements: {} and spec.provides: []",
			addonv1alpha1.DependenciesAnnotation)
	}
	switch {
	case result.failed > 0, present && len(result.lost) > 0:
		r.delay = min(max(2*r.delay, retryFirst), retryLast)
		return reconcile.Result{RequeueAfter: r.delay}, nil
	case settling:
		r.delay = 0
		return reconcile.Result{RequeueAfter: settleTime}, nil
	}
	r.delay = 0
	return reconcile.Result{}, nil
}
