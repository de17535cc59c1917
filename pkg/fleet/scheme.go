package fleet

import (
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
)

var builder = runtime.NewSchemeBuilder(addonv1alpha1.AddToScheme, clusterv1.Install, clusterv1beta1.Install, dependencyv1alpha1.AddToScheme)

// AddToScheme registers every type that Interlock reads from a hub.
var AddToScheme = builder.AddToScheme
