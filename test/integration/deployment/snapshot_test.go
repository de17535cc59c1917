package deployment

import (
	"context"
	"slices"
	"strings"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	"open-cluster-management.io/interlock/test/snapshot"
)

func takeSnapshot(ctx context.Context, g Gomega) snapshot.Snapshot {
	objects, err := snapshot.Take(ctx, hub.Config, neutral)
	g.Expect(err).NotTo(HaveOccurred())
	return objects
}

// neutral leaves out the fields that OCM's components write all the time.
func neutral(object *unstructured.Unstructured) bool {
	metadata, _ := object.Object["metadata"].(map[string]any)
	switch object.GetKind() {
	case "ConfigMap", "ServiceAccount": // Kubernetes creates these in each namespace, a moment after it
		return object.GetName() != "kube-root-ca.crt" && object.GetName() != "default"
	case "Lease": // leases are renewed
		delete(object.Object, "spec")
	case "Event":
		reporter, _ := object.Object["reportingController"].(string)
		component, _ := object.Object["reportingComponent"].(string)
		return strings.Contains(reporter+component, "interlock")
	case "ManagedClusterAddOn":
		// OCM's agent owned Available, lost it to Interlock's, and owns it again with its next change.
		delete(metadata, "managedFields")
	case "ManagedCluster":
		withoutClock(object)
	}
	if object.GetKind() == "CustomResourceDefinition" && object.GetName() == crdName {
		// The CRD was grafted and restored. No writer owns its versions until OCM's operator writes them again.
		delete(metadata, "managedFields")
		delete(metadata, "generation")
	}
	return true
}

// withoutClock leaves out the condition on the clock of a managed cluster. OCM sets it once the cluster's lease is renewed, during the
// suite or after
// it.
func withoutClock(object *unstructured.Unstructured) {
	conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	conditions = slices.DeleteFunc(conditions, func(condition any) bool {
		fields, _ := condition.(map[string]any)
		return fields["type"] == clusterv1.ManagedClusterConditionClockSynced
	})
	_ = unstructured.SetNestedSlice(object.Object, conditions, "status", "conditions")
	object.SetManagedFields(slices.DeleteFunc(object.GetManagedFields(), func(entry metav1.ManagedFieldsEntry) bool {
		return !strings.Contains(entry.Manager, "interlock")
	}))
}
