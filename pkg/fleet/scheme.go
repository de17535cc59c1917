package fleet

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
)

// AddToScheme registers every type that is read of a hub.
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
