package available

import (
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/kube/controllers"
)

// A cluster has some dozen add-ons. All of them may change at once, or the API server
// may respond slowly.
const concurrency = 8

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	return controllers.Setup(mgr, "available", r, concurrency, controllers.RetryOnAgent,
		r.Trigger.Source(),
		source.Kind(mgr.GetCache(), &addonv1alpha1.ManagedClusterAddOn{},
			&handler.TypedEnqueueRequestForObject[*addonv1alpha1.ManagedClusterAddOn]{}, inputChanged()))
}

// inputChanged passes those changes of an add-on that can change the decision. Most
// writes to an add-on change nothing that the cache keeps but the resourceVersion.
func inputChanged() predicate.TypedFuncs[*addonv1alpha1.ManagedClusterAddOn] {
	return predicate.TypedFuncs[*addonv1alpha1.ManagedClusterAddOn]{
		UpdateFunc: func(e event.TypedUpdateEvent[*addonv1alpha1.ManagedClusterAddOn]) bool {
			oldAddOn, newAddOn := e.ObjectOld, e.ObjectNew
			return oldAddOn.UID != newAddOn.UID ||
				!apiequality.Semantic.DeepEqual(oldAddOn.Annotations, newAddOn.Annotations) ||
				!apiequality.Semantic.DeepEqual(oldAddOn.Spec, newAddOn.Spec) ||
				!apiequality.Semantic.DeepEqual(oldAddOn.Status, newAddOn.Status)
		},
	}
}
