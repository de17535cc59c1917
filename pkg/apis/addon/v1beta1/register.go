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

// GroupVersion is OCM's own group and version.
var GroupVersion = schema.GroupVersion{Group: addonv1beta1.GroupName, Version: "v1beta1"}

// AddToScheme registers the types under OCM's group and version. A scheme must not also have the api module's v1beta1
// package, because both register the kind ClusterManagementAddOn.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &ClusterManagementAddOn{}, &ClusterManagementAddOnList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}

// AsV1alpha1 returns the add-on in the version that Interlock uses. The api module converts OCM's own fields.
func (in *ClusterManagementAddOn) AsV1alpha1() (*addonv1alpha1.ClusterManagementAddOn, error) {
	source := in.DeepCopy()
	stock := addonv1beta1.ClusterManagementAddOn{
		ObjectMeta: source.ObjectMeta, Spec: source.Spec.ClusterManagementAddOnSpec, Status: source.Status,
	}
	converted := ocmaddonv1alpha1.ClusterManagementAddOn{}
	if err := addonv1beta1.Convert_v1beta1_ClusterManagementAddOn_To_v1alpha1_ClusterManagementAddOn(&stock, &converted, nil); err != nil {
		return nil, fmt.Errorf("convert ClusterManagementAddOn %s to v1alpha1: %w", in.Name, err)
	}
	return &addonv1alpha1.ClusterManagementAddOn{
		TypeMeta:   metav1.TypeMeta{APIVersion: addonv1alpha1.GroupVersion.String(), Kind: "ClusterManagementAddOn"},
		ObjectMeta: converted.ObjectMeta,
		Spec: addonv1alpha1.ClusterManagementAddOnSpec{
			ClusterManagementAddOnSpec: converted.Spec,
			Dependencies:               source.Spec.Dependencies,
			Requirements:               source.Spec.Requirements,
			Provides:                   source.Spec.Provides,
			Ordering:                   source.Spec.Ordering,
		},
		Status: converted.Status,
	}, nil
}
