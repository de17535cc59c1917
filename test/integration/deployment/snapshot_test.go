package deployment

import (
	"cmp"
	"context"
	"slices"
	"strings"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
)

// snapshot is everything that the API server lists, by version, kind, namespace
// and name, less what Kubernetes itself changes.
type snapshot map[string]map[string]any

func takeSnapshot(ctx context.Context, g Gomega) snapshot {
	discoverer, err := discovery.NewDiscoveryClientForConfig(hub.Config)
	g.Expect(err).NotTo(HaveOccurred())
	lists, err := discoverer.ServerPreferredResources()
	g.Expect(err).NotTo(HaveOccurred())
	taken := snapshot{}
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		g.Expect(err).NotTo(HaveOccurred())
		for _, resource := range list.APIResources {
			if !slices.Contains(resource.Verbs, "list") || resource.Kind == "ComponentStatus" {
				continue
			}
			found := &unstructured.UnstructuredList{}
			found.SetGroupVersionKind(version.WithKind(resource.Kind + "List"))
			g.Expect(admin.List(ctx, found)).To(Succeed(), "%s %s", version, resource.Kind)
			for i := range found.Items {
				taken.add(&found.Items[i])
			}
		}
	}
	return taken
}

func (s snapshot) add(object *unstructured.Unstructured) {
	key := strings.Join([]string{object.GetAPIVersion(), object.GetKind(), object.GetNamespace(), object.GetName()}, " ")
	if object.GetKind() == "Lease" && strings.HasPrefix(object.GetName(), "apiserver-") {
		return // the API server renews it
	}
	for _, field := range []string{"reportingController", "reportingComponent"} {
		if object.Object[field] == "ipallocator-repair-controller" {
			return // at times the API server tells of the address that it gave to a Service
		}
	}
	content := object.DeepCopy().Object
	metadata := content["metadata"].(map[string]any)
	// Every write moves it, and what was written and taken back were writes.
	delete(metadata, "resourceVersion")
	if name := object.GetName(); name == mixed.Name || name == independent.Name {
		// Without a conversion webhook the API server loses them over writes in two versions, whoever makes them.
		delete(metadata, "managedFields")
	}
	entries, _ := metadata["managedFields"].([]any)
	for _, entry := range entries {
		delete(entry.(map[string]any), "time")
	}
	if conditions, found, _ := unstructured.NestedSlice(content, "status", "conditions"); found {
		_ = unstructured.SetNestedSlice(content, neutralConditions(conditions), "status", "conditions")
	}
	s[key] = content
}

// neutralConditions are sorted, and without the time of a condition that
// another writer has set anew, to what it was.
func neutralConditions(conditions []any) []any {
	for _, condition := range conditions {
		delete(condition.(map[string]any), "lastTransitionTime")
	}
	slices.SortFunc(conditions, func(a, b any) int {
		return cmp.Compare(a.(map[string]any)["type"].(string), b.(map[string]any)["type"].(string))
	})
	return conditions
}
