package available

import (
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// inputChanged passes those changes of an add-on that can change the decision. Most
// writes to an add-on change nothing that the cache keeps but the resourceVersion.
func inputChanged() predicate.TypedFuncs[*addonv1alpha1.ManagedClusterAddOn] {
	return predicate.TypedFuncs[*addonv1alpha1.ManagedClusterAddOn]{
		UpdateFunc: func(e event.TypedUpdateEvent[*addonv1alpha1.ManagedClusterAddOn]) bool {
			before, after := e.ObjectOld, e.ObjectNew
			return before.UID != after.UID ||
				!apiequality.Semantic.DeepEqual(before.Annotations, after.Annotations) ||
				!apiequality.Semantic.DeepEqual(before.Spec, after.Spec) ||
				!apiequality.Semantic.DeepEqual(before.Status, after.Status)
		},
	}
}
