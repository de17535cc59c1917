package upgrades

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/controllers"
	"open-cluster-management.io/interlock/pkg/trigger"
)

// workers is how many add-ons are decided on at a time.
const workers = 4

type (
	queue        = trigger.Queue
	installed    = *addonv1alpha1.ManagedClusterAddOn
	addOnHandler = handler.TypedFuncs[installed, reconcile.Request]
)

// SetupWithManager registers the controller. It begins with every add-on where an AddOnTemplate waits.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	return controllers.Setup(mgr, "upgrades", r, workers, controllers.RetryOnHub,
		r.Evaluate.Source(), source.Kind(mgr.GetCache(), &addonv1alpha1.ManagedClusterAddOn{}, r.addOns()))
}

// addOns: an add-on is decided on when it changes itself. Its evaluation enqueues it for everything else.
func (r *Reconciler) addOns() addOnHandler {
	enqueue := func(addOn installed, q queue) {
		if r.concerns(addOn) {
			q.Add(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(addOn)})
		}
	}
	return addOnHandler{
		CreateFunc: func(_ context.Context, e event.TypedCreateEvent[installed], q queue) { enqueue(e.Object, q) },
		UpdateFunc: func(_ context.Context, e event.TypedUpdateEvent[installed], q queue) { enqueue(e.ObjectNew, q) },
		DeleteFunc: func(_ context.Context, e event.TypedDeleteEvent[installed], q queue) { enqueue(e.Object, q) },
	}
}
