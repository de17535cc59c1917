package declarations

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
)

// Key is the only key of this controller's queue.
var Key = types.NamespacedName{Name: "catalog"}

type registration = *addonv1alpha1.ClusterManagementAddOn

func catalogHandler() handler.TypedEventHandler[registration, reconcile.Request] {
	return handler.TypedEnqueueRequestsFromMapFunc(func(context.Context, registration) []reconcile.Request {
		return []reconcile.Request{{NamespacedName: Key}}
	})
}

// declarationChanged passes creations, deletions and changed declarations. OCM
// updates the status of registrations far more often.
func declarationChanged() predicate.TypedPredicate[registration] {
	return predicate.TypedFuncs[registration]{
		UpdateFunc: func(e event.TypedUpdateEvent[registration]) bool {
			return !catalog.SameRegistration(e.ObjectOld, e.ObjectNew)
		},
	}
}
