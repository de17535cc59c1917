// Package snapshot compares the objects of a cluster at two moments: before an installation and after the
// uninstallation.
package snapshot

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Snapshot has everything that an API server lists, by version, kind, namespace and name, without the fields that
// Kubernetes itself changes with every write.
type Snapshot map[string]map[string]any

// Neutral removes the fields of an object that are not compared, and reports whether to compare the object at all.
type Neutral func(object *unstructured.Unstructured) bool

// Take lists every object of a cluster.
func Take(ctx context.Context, config *rest.Config, neutral Neutral) (Snapshot, error) {
	config = rest.CopyConfig(config)
	config.QPS, config.WarningHandler = -1, rest.NoWarnings{} // warnings of old versions
	discoverer, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("create discovery client: %w", err)
	}
	reader, err := client.New(config, client.Options{})
	if err != nil {
		return nil, fmt.Errorf("create client: %w", err)
	}
	lists, err := discoverer.ServerPreferredResources()
	if err != nil {
		return nil, fmt.Errorf("discover what is served: %w", err)
	}
	objectsByKey := Snapshot{}
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return nil, err
		}
		for _, resource := range list.APIResources {
			if !slices.Contains(resource.Verbs, "list") || resource.Kind == "ComponentStatus" {
				continue
			}
			objects := &unstructured.UnstructuredList{}
			objects.SetGroupVersionKind(version.WithKind(resource.Kind + "List"))
			if err := reader.List(ctx, objects); err != nil {
				return nil, fmt.Errorf("list %s %s: %w", version, resource.Kind, err)
			}
			for i := range objects.Items {
				objectsByKey.add(&objects.Items[i], neutral)
			}
		}
	}
	return objectsByKey, nil
}

// Traces returns the objects with fields whose managers' names have a prefix.
func (s Snapshot) Traces(managers string) []string {
	var keys []string
	for key, content := range s {
		entries, _, _ := unstructured.NestedSlice(content, "metadata", "managedFields")
		for _, entry := range entries {
			if manager, _ := entry.(map[string]any)["manager"].(string); strings.HasPrefix(manager, managers) {
				keys = append(keys, key)
			}
		}
	}
	return keys
}

func (s Snapshot) add(object *unstructured.Unstructured, neutral Neutral) {
	key := strings.Join([]string{object.GetAPIVersion(), object.GetKind(), object.GetNamespace(), object.GetName()}, " ")
	object = object.DeepCopy()
	if isOfAPIServer(object) || !neutral(object) {
		return
	}
	content := object.Object
	metadata, _ := content["metadata"].(map[string]any)
	// Every write changes the version, including a write and its reversal.
	delete(metadata, "resourceVersion")
	entries, _ := metadata["managedFields"].([]any)
	for _, entry := range entries {
		delete(entry.(map[string]any), "time")
	}
	if conditions, ok, _ := unstructured.NestedSlice(content, "status", "conditions"); ok {
		_ = unstructured.SetNestedSlice(content, neutralConditions(conditions), "status", "conditions")
	}
	s[key] = content
}

// isOfAPIServer reports whether the object is a lease that the API server renews, or an event that reports the
// address of a Service.
func isOfAPIServer(object *unstructured.Unstructured) bool {
	for _, field := range []string{"reportingController", "reportingComponent"} {
		if object.Object[field] == "ipallocator-repair-controller" {
			return true
		}
	}
	return object.GetKind() == "Lease" && strings.HasPrefix(object.GetName(), "apiserver-")
}

// neutralConditions sorts the conditions, and removes their times. Another writer may have set a condition again, to
// its former status.
func neutralConditions(conditions []any) []any {
	for _, condition := range conditions {
		delete(condition.(map[string]any), "lastTransitionTime")
	}
	slices.SortFunc(conditions, func(a, b any) int {
		return cmp.Compare(a.(map[string]any)["type"].(string), b.(map[string]any)["type"].(string))
	})
	return conditions
}
