// Package factsobject writes ManagedClusterFacts. The hub writes the spec, and the agent
// the status, each as a whole.
package factsobject

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
)

// Key returns the key of the ManagedClusterFacts of a cluster.
func Key(cluster string) types.NamespacedName {
	return types.NamespacedName{Namespace: cluster, Name: cluster}
}

// Configuration returns the configuration that applies a field of the object of a cluster.
// It includes empty members, so that entries of other writers are removed. If the uid is not
// empty, it applies only to the object with this UID.
func Configuration(
	key types.NamespacedName, uid types.UID, field string, value any, empty map[string]any,
) (*unstructured.Unstructured, error) {
	members, err := runtime.DefaultUnstructuredConverter.ToUnstructured(value)
	if err != nil {
		return nil, fmt.Errorf("convert the %s of ManagedClusterFacts %s: %w", field, key, err)
	}
	for name, emptyValue := range empty {
		if _, exists := members[name]; !exists {
			members[name] = emptyValue
		}
	}
	object := &unstructured.Unstructured{Object: map[string]any{field: members}}
	object.SetGroupVersionKind(dependencyv1alpha1.Kind)
	object.SetNamespace(key.Namespace)
	object.SetName(key.Name)
	object.SetUID(uid)
	return object, nil
}
