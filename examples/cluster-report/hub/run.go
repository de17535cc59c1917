// Package hub is the part of the add-on that runs on the hub: addon-framework's
// manager, which installs it, and a controller that uses its dependency.
package hub

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	accountsv1beta1 "open-cluster-management.io/managed-serviceaccount/apis/authentication/v1beta1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

// Name is the name of the add-on and of its ManagedServiceAccounts.
const Name = "cluster-report"

// Scheme returns a scheme with all types that the add-on reads and writes on the hub.
func Scheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	return scheme, errors.Join(corev1.AddToScheme(scheme), clusterv1.Install(scheme),
		addonv1beta1.Install(scheme), accountsv1beta1.AddToScheme(scheme))
}

// Run runs the add-on's manager on the hub until the context ends.
func Run(ctx context.Context, config *rest.Config, image string) error {
	scheme, err := Scheme()
	if err != nil {
		return fmt.Errorf("register types: %w", err)
	}
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme: scheme,
		// Secrets are read where they are needed, not cached.
		Client: client.Options{Cache: &client.CacheOptions{DisableFor: []client.Object{&corev1.Secret{}, &corev1.ConfigMap{}}}},
		Cache:  cache.Options{},
	})
	if err != nil {
		return fmt.Errorf("create manager: %w", err)
	}
	reporter := &Reporter{Hub: manager.GetClient()}
	named := predicate.NewPredicateFuncs(func(object client.Object) bool { return object.GetName() == Name })
	err = ctrl.NewControllerManagedBy(manager).Named(Name).
		For(&addonv1beta1.ManagedClusterAddOn{}, builder.WithPredicates(named)).
		Watches(&accountsv1beta1.ManagedServiceAccount{}, &handler.EnqueueRequestForObject{}, builder.WithPredicates(named)).
		Complete(reporter)
	if err != nil {
		return fmt.Errorf("create controller: %w", err)
	}
	if err := startAddOn(ctx, config, image); err != nil {
		return err
	}
	return manager.Start(ctx)
}
