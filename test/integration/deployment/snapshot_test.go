package deployment

import (
	"context"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"open-cluster-management.io/interlock/test/snapshot"
)

func takeSnapshot(ctx context.Context, g Gomega) snapshot.Snapshot {
	taken, err := snapshot.Take(ctx, hub.Config, neutral)
	g.Expect(err).NotTo(HaveOccurred())
	return taken
}

func neutral(object *unstructured.Unstructured) bool {
	metadata, _ := object.Object["metadata"].(map[string]any)
	if name := object.GetName(); name == mixed.Name || name == independent.Name {
		// Without a conversion webhook the API server loses them over writes in two versions, whoever makes them.
		delete(metadata, "managedFields")
	}
	if object.GetKind() == "CustomResourceDefinition" && object.GetName() == crdName {
		// It was grafted and given back: nobody owns its versions until OCM's operator writes them again.
		delete(metadata, "managedFields")
		delete(metadata, "generation")
	}
	return true
}
