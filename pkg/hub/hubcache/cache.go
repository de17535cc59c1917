// Package hubcache is the cache of the hub controllers. It has only the fields that
// evaluation needs, with indexes.
package hubcache

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/kube/informerstop"
)

// Options returns the options of the main cache. It strips objects before it stores them. Reads
// return the cached objects themselves, which must not be changed.
func Options() cache.Options {
	return stripping(map[client.Object]cache.ByObject{
		&addonv1alpha1.ClusterManagementAddOn{}: {Transform: strip(fleet.LeanRegistration)},
		&addonv1alpha1.ManagedClusterAddOn{}:    {Transform: strip(new(sharing).managedClusterAddOn)},
		&clusterv1.ManagedCluster{}:             {Transform: strip(fleet.LeanCluster)},
		fleet.Namespace():                       {Transform: strip(fleet.LeanNamespace)}, // read with the lifecycle only
	})
}

// LazyOptions returns the options of a second cache, for kinds that only some declarations need.
// Controllers wait for all kinds of the main cache, and not for these.
func LazyOptions() cache.Options {
	return stripping(map[client.Object]cache.ByObject{
		&addonv1alpha1.AddOnDeploymentConfig{}:      {Transform: strip(fleet.LeanConfig)},
		&addonv1alpha1.AddOnTemplate{}:              {Transform: strip(fleet.LeanTemplate)},
		&clusterv1beta1.Placement{}:                 {Transform: strip(fleet.LeanPlacement)},
		&clusterv1beta1.PlacementDecision{}:         {Transform: strip(fleet.LeanDecision)},
		&dependencyv1alpha1.AddOnDependencyPolicy{}: {Transform: strip(fleet.StatedPolicy)},
		fleet.CRD(): {
			Field:     fields.OneTermEqualSelector(metav1.ObjectNameField, fleet.OCMVersionCRD),
			Transform: strip(fleet.LeanCRD),
		},
	})
}

// InstallationOptions returns the options of a third cache, for AddOnInstallations. On a hub without their CRD, only their controller
// waits.
func InstallationOptions() cache.Options {
	return stripping(map[client.Object]cache.ByObject{&dependencyv1alpha1.AddOnInstallation{}: {Transform: cache.TransformStripManagedFields()}})
}

func stripping(objects map[client.Object]cache.ByObject) cache.Options {
	return cache.Options{
		DefaultUnsafeDisableDeepCopy: ptr.To(true),
		ReaderFailOnMissingInformer:  true,
		NewInformer:                  informerstop.NewInformer,
		ByObject:                     objects,
	}
}

// strip returns a transform that calls a function for objects of one type. Objects of other types
// stay unchanged.
func strip[T any](keep func(T) T) func(any) (any, error) {
	return func(object any) (any, error) {
		if typed, ok := object.(T); ok {
			return keep(typed), nil
		}
		return object, nil
	}
}
