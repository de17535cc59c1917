package settings

import (
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/controllers"
	"open-cluster-management.io/interlock/pkg/fleet"
)

type addOn = *addonv1alpha1.ManagedClusterAddOn

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	return controllers.Setup(mgr, "settings", r, 1, controllers.RetryOnHub, r.Wishes.Changed.Source(),
		source.Kind(mgr.GetCache(), &addonv1alpha1.ManagedClusterAddOn{}, &handler.TypedEnqueueRequestForObject[addOn]{}, installed()))
}

// installed: Interlock has installed an add-on, which now refers to another AddOnDeploymentConfig, or is deleted.
func installed() predicate.TypedPredicate[addOn] {
	return predicate.TypedFuncs[addOn]{
		CreateFunc: func(e event.TypedCreateEvent[addOn]) bool { return fleet.InstalledByInterlock(e.Object) },
		UpdateFunc: func(e event.TypedUpdateEvent[addOn]) bool {
			before, referred := fleet.ConfigOf(e.ObjectOld)
			after, refers := fleet.ConfigOf(e.ObjectNew)
			return fleet.InstalledByInterlock(e.ObjectNew) && (!fleet.InstalledByInterlock(e.ObjectOld) || before != after || referred != refers ||
				e.ObjectOld.DeletionTimestamp.IsZero() != e.ObjectNew.DeletionTimestamp.IsZero())
		},
		DeleteFunc: func(e event.TypedDeleteEvent[addOn]) bool { return fleet.InstalledByInterlock(e.Object) },
	}
}
