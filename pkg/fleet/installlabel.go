package fleet

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
)

// installOwner begins the field managers with which Interlock applies the labels of ManagedClusters. The name of the add-on follows: each
// label is withdrawn by itself.
const installOwner = "interlock-install-"

// InstallOwner is the field manager with which Interlock applies the label by which an add-on is installed.
func InstallOwner(addOn string) client.FieldOwner { return client.FieldOwner(installOwner + addOn) }

// Unlabeled is what InstallOwner applies to withdraw the label from a ManagedCluster. Without the UID, one that has gone would be created.
func Unlabeled(name string, uid types.UID) *unstructured.Unstructured {
	cluster := &unstructured.Unstructured{}
	cluster.SetGroupVersionKind(schema.GroupVersionKind{Group: clusterv1.GroupName, Version: "v1", Kind: "ManagedCluster"})
	cluster.SetName(name)
	cluster.SetUID(uid)
	return cluster
}

// Labeled is what InstallOwner applies to have an add-on installed on a managed cluster.
func Labeled(name string, uid types.UID, addOn string) *unstructured.Unstructured {
	cluster := Unlabeled(name, uid)
	cluster.SetLabels(map[string]string{catalog.InstallLabel(addOn): addonv1alpha1.InstallLabelValue})
	return cluster
}

// HasInstallLabel reports whether a managed cluster has the label by which an add-on is installed.
func HasInstallLabel(cluster client.Object, addOn string) bool {
	_, has := cluster.GetLabels()[catalog.InstallLabel(addOn)]
	return has
}
