package settings

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
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/trigger"
)

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	return controllers.Setup(mgr, "settings", r, 1, controllers.RetryOnHub,
		r.Wishes.Changed.Source(), source.Kind(mgr.GetCache(), &addonv1alpha1.ManagedClusterAddOn{}, installed()))
}

type addOn = *addonv1alpha1.ManagedClusterAddOn

// installed: Interlock has installed an add-on, which now refers to another AddOnDeploymentConfig, or is deleted.
func installed() handler.TypedFuncs[addOn, reconcile.Request] {
	enqueue := func(one addOn, q trigger.Queue) {
		q.Add(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(one)})
	}
	return handler.TypedFuncs[addOn, reconcile.Request]{
		CreateFunc: func(_ context.Context, e event.TypedCreateEvent[addOn], q trigger.Queue) {
			if ours(e.Object) {
				enqueue(e.Object, q)
			}
		},
		UpdateFunc: func(_ context.Context, e event.TypedUpdateEvent[addOn], q trigger.Queue) {
			before, referred := fleet.ConfigOf(e.ObjectOld)
			after, refers := fleet.ConfigOf(e.ObjectNew)
			if ours(e.ObjectNew) && (!ours(e.ObjectOld) || before != after || referred != refers ||
				e.ObjectOld.DeletionTimestamp.IsZero() != e.ObjectNew.DeletionTimestamp.IsZero()) {
				enqueue(e.ObjectNew, q)
			}
		},
		DeleteFunc: func(_ context.Context, e event.TypedDeleteEvent[addOn], q trigger.Queue) {
			if ours(e.Object) {
				enqueue(e.Object, q)
			}
		},
	}
}
