package hub

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/hub/facts"
)

// setupFacts has managed clusters asked what dependencies need to know of them.
// It returns what has them asked anew, and what they have answered.
func setupFacts(mgr ctrl.Manager, reconciler *facts.Reconciler) (*facts.Waker, *facts.Answers, error) {
	hub, err := client.NewWithWatch(mgr.GetConfig(), client.Options{
		HTTPClient: mgr.GetHTTPClient(), Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper(),
	})
	if err != nil {
		return nil, nil, fmt.Errorf("create client of the hub: %w", err)
	}
	waker := facts.NewWaker()
	informer := facts.NewInformer(hub, waker)
	if err := mgr.Add(informer); err != nil {
		return nil, nil, fmt.Errorf("add informer of facts: %w", err)
	}
	reconciler.Informer, reconciler.Writer = informer, mgr.GetClient()
	answers := &facts.Answers{
		Clock: clock.RealClock{}, Fleet: reconciler.Fleet, Declarations: reconciler.Declarations, Informer: informer,
		Signs: reconciler.Signs,
	}
	reconciler.Forget = answers.Forget
	return waker, answers, reconciler.SetupWithManager(mgr, waker)
}

// both wakes two controllers.
func both(first, second func(context.Context, []types.NamespacedName) error) func(context.Context, []types.NamespacedName) error {
	return func(ctx context.Context, keys []types.NamespacedName) error {
		if err := first(ctx, keys); err != nil {
			return err
		}
		return second(ctx, keys)
	}
}
