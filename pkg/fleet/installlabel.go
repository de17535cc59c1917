package fleet

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
)

// installOwner is the prefix of the field managers with which Interlock applies labels of ManagedClusters. The name of the add-on follows,
// so that each label can be withdrawn by itself.
const installOwner = "interlock-install-"

// InstallOwner returns the field manager with which Interlock applies the label that installs an add-on.
func InstallOwner(addOn string) client.FieldOwner { return client.FieldOwner(installOwner + addOn) }

// Unlabeled returns the configuration that InstallOwner applies to withdraw the label from a ManagedCluster. Its UID keeps server-side
// apply from creating a ManagedCluster that was deleted.
func Unlabeled(name string, uid types.UID) *unstructured.Unstructured {
	cluster := &unstructured.Unstructured{}
	cluster.SetGroupVersionKind(schema.GroupVersionKind{Group: clusterv1.GroupName, Version: "v1", Kind: "ManagedCluster"})
	cluster.SetName(name)
	cluster.SetUID(uid)
	return cluster
}

// Labeled returns the configuration that InstallOwner applies to install an add-on on a managed cluster.
func Labeled(name string, uid types.UID, addOn string) *unstructured.Unstructured {
	cluster := Unlabeled(name, uid)
	cluster.SetLabels(map[string]string{catalog.InstallLabel(addOn): addonv1alpha1.InstallLabelValue})
	return cluster
}

// HasInstallLabel reports whether a managed cluster has the label that installs an add-on.
func HasInstallLabel(cluster client.Object, addOn string) bool {
	_, labeled := cluster.GetLabels()[catalog.InstallLabel(addOn)]
	return labeled
}

// InstallLabels returns the add-ons that the labels of a managed cluster install, in ascending order.
func InstallLabels(cluster client.Object) []string {
	var addOns []string
	for label := range cluster.GetLabels() {
		if addOn, ok := strings.CutPrefix(label, addonv1alpha1.InstallLabelPrefix); ok {
			addOns = append(addOns, addOn)
		}
	}
	slices.Sort(addOns)
	return addOns
}
