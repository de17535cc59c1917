// Package fleet is what the hub controllers see of the fleet: a cache that
// holds only what evaluation needs, its indexes, and reads from both.
package fleet

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
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
			&addonv1alpha1.AddOnDeploymentConfig{}:  {Transform: strip(stripAddOnDeploymentConfig)},
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
	lean.Spec.Requirements, lean.Spec.Provides = full.Spec.Requirements, full.Spec.Provides
	for _, name := range []string{addonv1alpha1.DependenciesAnnotation, addonv1alpha1.AddOnVersionAnnotation} {
		if annotation, ok := full.Annotations[name]; ok {
			metav1.SetMetaDataAnnotation(&lean.ObjectMeta, name, annotation)
		}
	}
	return lean
}

func stripManagedClusterAddOn(full *addonv1alpha1.ManagedClusterAddOn) *addonv1alpha1.ManagedClusterAddOn {
	lean := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: leanMeta(full.ObjectMeta)}
	lean.Labels, lean.Annotations = nonEmpty(full.Labels), shortAnnotations(full.Annotations)
	lean.Status.Conditions = only(full.Status.Conditions, conditionAvailable, dependency.ConditionDegraded)
	lean.Status.ConfigReferences = leanConfigs(full.Status.ConfigReferences)
	return lean
}

func stripManagedCluster(full *clusterv1.ManagedCluster) *clusterv1.ManagedCluster {
	lean := &clusterv1.ManagedCluster{ObjectMeta: leanMeta(full.ObjectMeta)}
	lean.Labels = nonEmpty(full.Labels)
	lean.Status.Conditions = only(full.Status.Conditions, clusterv1.ManagedClusterConditionAvailable)
	lean.Status.Version.Kubernetes = full.Status.Version.Kubernetes
	lean.Status.ClusterClaims = full.Status.ClusterClaims
	return lean
}

func stripAddOnDeploymentConfig(full *addonv1alpha1.AddOnDeploymentConfig) *addonv1alpha1.AddOnDeploymentConfig {
	lean := &addonv1alpha1.AddOnDeploymentConfig{ObjectMeta: leanMeta(full.ObjectMeta)}
	lean.Spec.CustomizedVariables = full.Spec.CustomizedVariables
	return lean
}

// maxAnnotation is how long the value of an add-on's annotation may be for
// conditions to see it, in bytes. Longer ones hold whole objects, which would
// be kept for every add-on of the fleet.
const maxAnnotation = 256

func shortAnnotations(all map[string]string) map[string]string {
	var kept map[string]string
	for name, value := range all {
		if len(value) > maxAnnotation || name == lastApplied {
			continue
		}
		if kept == nil {
			kept = map[string]string{}
		}
		kept[name] = value
	}
	return kept
}

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

func nonEmpty(values map[string]string) map[string]string {
	if len(values) == 0 {
		return nil
	}
	return values
}

// leanConfigs keeps which AddOnDeploymentConfigs an add-on is to have, in
// order, and of each no more than its name.
func leanConfigs(all []ocmv1alpha1.ConfigReference) []ocmv1alpha1.ConfigReference {
	var kept []ocmv1alpha1.ConfigReference
	for _, reference := range all {
		if ours := reference.ConfigGroupResource; ours != configResource && ours != (ocmv1alpha1.ConfigGroupResource{}) {
			continue // what is kept of those below names no resource
		}
		referent := reference.ConfigReferent
		if reference.DesiredConfig != nil {
			referent = reference.DesiredConfig.ConfigReferent
		}
		kept = append(kept, ocmv1alpha1.ConfigReference{ConfigReferent: referent})
	}
	return kept
}

var configResource = ocmv1alpha1.ConfigGroupResource{Group: ocmv1alpha1.GroupName, Resource: "addondeploymentconfigs"}

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
