// Package records keeps a record of each declaration by field in an annotation of the
// same add-on, if admission has not written it. It restores lost fields from the record.
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
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/kube/controllers"
	"open-cluster-management.io/interlock/pkg/kube/events"
	"open-cluster-management.io/interlock/pkg/kube/trigger"
)

// Reasons of events on a ClusterManagementAddOn.
const (
	// EventRestored means that lost fields were written back.
	EventRestored = "DeclarationRestored"
	// EventRemoved means that a record in use was removed.
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

// Every API server of the hub uses a changed CRD within settleTime. An incomplete pass is
// repeated after retryFirst, doubled each time up to retryLast.
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

	trigger    *trigger.Trigger
	crdChanged atomic.Bool
	delay      time.Duration
	restored   prometheus.Counter
	lost       prometheus.Gauge
}

// New returns the controller of the records on a hub.
func New(hub client.Client, recorder k8sevents.EventRecorder, registry prometheus.Registerer) *Reconciler {
	r := &Reconciler{
		Hub:      hub,
		Recorder: recorder,
		trigger:  trigger.New(),
		restored: prometheus.NewCounter(prometheus.CounterOpts{Name: NameRestored, Help: Help[NameRestored]}),
		lost:     prometheus.NewGauge(prometheus.GaugeOpts{Name: NameLost, Help: Help[NameLost]}),
	}
	registry.MustRegister(r.restored, r.lost)
	return r
}

// CRDChanged triggers two passes over all records: one at once, and one after every API
// server of the hub uses the changed CRD.
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

// changes enqueues the key after changes that require a write of a record or of fields, or
// that change the number of lost declarations.
func (r *Reconciler) changes() handler.TypedFuncs[registration, reconcile.Request] {
	request := reconcile.Request{NamespacedName: key}
	return handler.TypedFuncs[registration, reconcile.Request]{
		CreateFunc: func(_ context.Context, e event.TypedCreateEvent[registration], q trigger.Queue) {
			if !declaration.Settled(e.Object) {
				q.Add(request)
			}
		},
		UpdateFunc: func(ctx context.Context, e event.TypedUpdateEvent[registration], q trigger.Queue) {
			// A watch may have delivered the old add-on without its fields already. Then their loss does not show as a change.
			present := r.Present()
			if catalog.SameRegistration(e.ObjectOld, e.ObjectNew) && (!present || !declaration.LostFields(e.ObjectNew)) {
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

// reportRemoved reports a record that cannot be restored. An author may have removed it, or
// another writer may have replaced the object: both look the same.
func (r *Reconciler) reportRemoved(ctx context.Context, addOn registration, record string) {
	note := events.Note("The record of its fields was removed while spec lacks them, so nothing is declared any more. The record was: " + record)
	log.FromContext(ctx).Info("A declaration was removed with its record", "addOn", addOn.Name, "record", record)
	r.Recorder.Eventf(events.About(events.ClusterManagementAddOn, addOn), nil, corev1.EventTypeWarning, EventRemoved, "ReportRemoval",
		"%s", note)
}

// Reconcile writes missing records, and restores lost fields. While the CRD is not grafted,
// it only counts the lost declarations.
func (r *Reconciler) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	settling, present := r.crdChanged.Swap(false), r.Present()
	allowed := nothing // without a graft no fields can get lost, and without admission a record would outlive the removal of its fields
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
