package snapshot

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// TestSelectKeepsHostingClusters tests that a cluster that is not selected stays readable if it runs an agent of a selected one.
func TestSelectKeepsHostingClusters(t *testing.T) {
	hosted := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{
		Namespace: "selected", Name: "a", Annotations: map[string]string{ocmv1alpha1.HostingClusterNameAnnotationKey: "host"},
	}}
	content := Content{
		Clusters: []clusterv1.ManagedCluster{
			{ObjectMeta: metav1.ObjectMeta{Name: "selected"}},
			{ObjectMeta: metav1.ObjectMeta{Name: "host"}},
			{ObjectMeta: metav1.ObjectMeta{Name: "other"}},
		},
		AddOns: []*addonv1alpha1.ManagedClusterAddOn{
			hosted, {ObjectMeta: metav1.ObjectMeta{Namespace: "host", Name: "b"}}, {ObjectMeta: metav1.ObjectMeta{Namespace: "other", Name: "b"}},
		},
	}
	selected := New(content.Select(func(cluster *clusterv1.ManagedCluster) bool { return cluster.Name == "selected" }))
	if names := selected.Names(); len(names) != 1 || names[0] != "selected" || len(selected.AddOns) != 1 {
		t.Errorf("selects %v with %d add-ons", names, len(selected.AddOns))
	}
	if selected.Object("host") == nil || !selected.IsOn("host", "b") {
		t.Error("the hosting cluster is not readable")
	}
	if selected.Object("other") != nil {
		t.Error("another cluster is readable")
	}
	if len(content.Clusters) != 3 || len(content.AddOns) != 3 {
		t.Error("the content has changed")
	}
}
