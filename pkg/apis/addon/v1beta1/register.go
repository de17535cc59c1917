package v1beta1

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ocmaddonv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// GroupVersion is OCM's own.
var GroupVersion = schema.GroupVersion{Group: addonv1beta1.GroupName, Version: "v1beta1"}

// AddToScheme registers the types under OCM's group and version. A scheme must not also hold the api module's v1beta1
// package: both claim the kind ClusterManagementAddOn.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &ClusterManagementAddOn{}, &ClusterManagementAddOnList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}

// AsV1alpha1 returns the add-on in the version that Interlock uses. OCM's own fields are converted by the api module.
func (in *ClusterManagementAddOn) AsV1alpha1() (*addonv1alpha1.ClusterManagementAddOn, error) {
	from := in.DeepCopy()
	own := addonv1beta1.ClusterManagementAddOn{
		ObjectMeta: from.ObjectMeta, Spec: from.Spec.ClusterManagementAddOnSpec, Status: from.Status,
	}
	to := ocmaddonv1alpha1.ClusterManagementAddOn{}
	if err := addonv1beta1.Convert_v1beta1_ClusterManagementAddOn_To_v1alpha1_ClusterManagementAddOn(&own, &to, nil); err != nil {
		return nil, fmt.Errorf("convert ClusterManagementAddOn %s to v1alpha1: %w", in.Name, err)
	}
	return &addonv1alpha1.ClusterManagementAddOn{
		TypeMeta:   metav1.TypeMeta{APIVersion: addonv1alpha1.GroupVersion.String(), Kind: "ClusterManagementAddOn"},
		ObjectMeta: to.ObjectMeta,
		Spec: addonv1alpha1.ClusterManagementAddOnSpec{
			ClusterManagementAddOnSpec: to.Spec,
			Dependencies:               from.Spec.Dependencies,
			Requirements:               from.Spec.Requirements,
			Provides:                   from.Spec.Provides,
			Ordering:                   from.Spec.Ordering,
		},
		Status: to.Status,
	}, nil
}
