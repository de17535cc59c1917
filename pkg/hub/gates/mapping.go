package gates

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/controllers"
	"open-cluster-management.io/interlock/pkg/dependency/gate"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/trigger"
)

// workers is how many gates are decided on at a time.
const workers = 4

type (
	queue        = trigger.Queue
	installed    = *addonv1alpha1.ManagedClusterAddOn
	addOnHandler = handler.TypedFuncs[installed, reconcile.Request]
)

// SetupWithManager registers the controller. It begins with every add-on that waits.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	return controllers.Setup(mgr, "gates", r, workers, controllers.RetryOnHub,
		r.Evaluate.Source(), source.Kind(mgr.GetCache(), &addonv1alpha1.ManagedClusterAddOn{}, addOns()))
}

// addOns: an add-on is decided on when it changes while its gate is closed, or while it still says that it waits. The
// evaluation of the add-on enqueues it for everything else.
func addOns() addOnHandler {
	enqueue := func(addOn installed, q queue) {
		if fleet.GateClosed(addOn) || gate.Waits(fleet.Installable(addOn)) {
			q.Add(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(addOn)})
		}
	}
	return addOnHandler{
		CreateFunc: func(_ context.Context, e event.TypedCreateEvent[installed], q queue) { enqueue(e.Object, q) },
		UpdateFunc: func(_ context.Context, e event.TypedUpdateEvent[installed], q queue) { enqueue(e.ObjectNew, q) },
		DeleteFunc: func(_ context.Context, e event.TypedDeleteEvent[installed], q queue) { enqueue(e.Object, q) },
	}
}

// Evaluated enqueues an add-on that has been evaluated, if its gate is closed.
func (r *Reconciler) Evaluated(addOn types.NamespacedName) {
	found, err := r.Fleet.AddOn(context.Background(), addOn) // of the cache
	if err == nil && found != nil && fleet.GateClosed(found) {
		r.Evaluate.Enqueue(addOn)
	}
}
