package declarations

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
)

// catalogKey is the only key of this controller's queue.
var catalogKey = reconcile.Request{NamespacedName: types.NamespacedName{Name: "catalog"}}

type registration = *addonv1alpha1.ClusterManagementAddOn

func enqueueOnce(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	queue.Add(catalogKey)
	return nil
}

func enqueueCatalog() handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(context.Context, client.Object) []reconcile.Request {
		return []reconcile.Request{catalogKey}
	})
}

func catalogHandler() handler.TypedEventHandler[registration, reconcile.Request] {
	return handler.TypedEnqueueRequestsFromMapFunc(func(context.Context, registration) []reconcile.Request {
		return []reconcile.Request{catalogKey}
	})
}

// declarationChanged passes registrations, their end, and changes of what they
// declare; stock OCM updates their status far more often than that.
func declarationChanged() predicate.TypedPredicate[registration] {
	return predicate.TypedFuncs[registration]{
		UpdateFunc: func(e event.TypedUpdateEvent[registration]) bool {
			return !catalog.Same(e.ObjectOld, e.ObjectNew)
		},
	}
}
