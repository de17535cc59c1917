package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	addonv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
)

// GroupVersion is OCM's own group and version. Interlock reads and writes the storage version.
var GroupVersion = schema.GroupVersion{Group: addonv1alpha1.GroupName, Version: "v1alpha1"}

// AddToScheme registers these types under OCM's group and version. A scheme
// must not also have the api module's v1alpha1 package, because both register
// the kind ClusterManagementAddOn.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion,
		&ClusterManagementAddOn{}, &ClusterManagementAddOnList{},
		&ManagedClusterAddOn{}, &ManagedClusterAddOnList{},
		&AddOnDeploymentConfig{}, &AddOnDeploymentConfigList{},
		&AddOnTemplate{}, &AddOnTemplateList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
