package deployment

import (
	"context"
	"strings"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"open-cluster-management.io/interlock/test/snapshot"
)

func takeSnapshot(ctx context.Context, g Gomega) snapshot.Snapshot {
	taken, err := snapshot.Take(ctx, hub.Config, neutral)
	g.Expect(err).NotTo(HaveOccurred())
	return taken
}

// neutral leaves out what OCM's components write all the time.
func neutral(object *unstructured.Unstructured) bool {
	metadata, _ := object.Object["metadata"].(map[string]any)
	switch object.GetKind() {
	case "Lease": // those that are renewed
		delete(object.Object, "spec")
	case "Event":
		reporter, _ := object.Object["reportingController"].(string)
		component, _ := object.Object["reportingComponent"].(string)
		return strings.Contains(reporter+component, "interlock")
	case "ManagedClusterAddOn":
		// OCM's agent owned Available, lost it to Interlock's, and owns it again with its next change.
		delete(metadata, "managedFields")
	}
	if object.GetKind() == "CustomResourceDefinition" && object.GetName() == crdName {
		// It was grafted and given back: no writer owns its versions until OCM's operator writes them again.
		delete(metadata, "managedFields")
		delete(metadata, "generation")
	}
	return true
}
