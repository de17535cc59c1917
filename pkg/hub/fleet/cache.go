// Package fleet is what the hub controllers see of the fleet: a cache that
// holds only what evaluation needs, its indexes, and reads from both.
package fleet

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency"
)

// conditionAvailable is the type of the condition that says whether an add-on
// runs: the same name on both versions of the API.
const conditionAvailable = "Available"

// AddToScheme registers every type that the hub controllers read.
func AddToScheme(scheme *runtime.Scheme) error {
	if err := addonv1alpha1.AddToScheme(scheme); err != nil {
		return fmt.Errorf("register add-on types: %w", err)
	}
	if err := clusterv1.Install(scheme); err != nil {
		return fmt.Errorf("register cluster types: %w", err)
	}
	if err := dependencyv1alpha1.AddToScheme(scheme); err != nil {
		return fmt.Errorf("register types of facts: %w", err)
	}
	return nil
}

// CacheOptions makes the cache lean: objects are stripped on ingest, and reads
// return the cached object itself, so whoever reads must not change it.
func CacheOptions() cache.Options {
	return cache.Options{
		DefaultUnsafeDisableDeepCopy: ptr.To(true),
		ReaderFailOnMissingInformer:  true,
		ByObject: map[client.Object]cache.ByObject{
			&addonv1alpha1.ClusterManagementAddOn{}: {Transform: strip(stripClusterManagementAddOn)},
			&addonv1alpha1.ManagedClusterAddOn{}:    {Transform: strip(stripManagedClusterAddOn)},
			&clusterv1.ManagedCluster{}:             {Transform: strip(stripManagedCluster)},
		},
	}
}

// strip adapts a function that keeps what is needed of one type to the
// signature of a transform; anything else passes as it is.
func strip[T any](keep func(T) T) func(any) (any, error) {
	return func(object any) (any, error) {
		if typed, ok := object.(T); ok {
			return keep(typed), nil
		}
		return object, nil
	}
}

func stripClusterManagementAddOn(full *addonv1alpha1.ClusterManagementAddOn) *addonv1alpha1.ClusterManagementAddOn {
	lean := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: leanMeta(full.ObjectMeta)}
	lean.Spec.Dependencies = full.Spec.Dependencies
	if annotation, ok := full.Annotations[addonv1alpha1.DependenciesAnnotation]; ok {
		lean.Annotations = map[string]string{addonv1alpha1.DependenciesAnnotation: annotation}
	}
	return lean
}

func stripManagedClusterAddOn(full *addonv1alpha1.ManagedClusterAddOn) *addonv1alpha1.ManagedClusterAddOn {
	lean := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: leanMeta(full.ObjectMeta)}
	lean.Status.Conditions = only(full.Status.Conditions, conditionAvailable, dependency.ConditionDegraded)
	return lean
}

func stripManagedCluster(full *clusterv1.ManagedCluster) *clusterv1.ManagedCluster {
	lean := &clusterv1.ManagedCluster{ObjectMeta: leanMeta(full.ObjectMeta)}
	lean.Status.Conditions = only(full.Status.Conditions, clusterv1.ManagedClusterConditionAvailable)
	return lean
}

func leanMeta(full metav1.ObjectMeta) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace:         full.Namespace,
		Name:              full.Name,
		UID:               full.UID,
		ResourceVersion:   full.ResourceVersion,
		DeletionTimestamp: full.DeletionTimestamp,
	}
}

func only(conditions []metav1.Condition, types ...string) []metav1.Condition {
	var kept []metav1.Condition
	for _, condition := range conditions {
		for _, wanted := range types {
			if condition.Type == wanted {
				kept = append(kept, condition)
			}
		}
	}
	return kept
}
