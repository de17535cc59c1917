// Package snapshot compares what a cluster has at two moments, object by object:
// before something was installed and after it was uninstalled.
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

// Snapshot is everything that an API server lists, by version, kind, namespace
// and name, less what Kubernetes itself changes with every write.
type Snapshot map[string]map[string]any

// Neutral takes off an object what is not to be compared, and reports whether
// anything of it is.
type Neutral func(object *unstructured.Unstructured) bool

// Take lists every object of a cluster.
func Take(ctx context.Context, config *rest.Config, neutral Neutral) (Snapshot, error) {
	config = rest.CopyConfig(config)
	config.QPS, config.WarningHandler = -1, rest.NoWarnings{} // of old versions
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
	taken := Snapshot{}
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return nil, err
		}
		for _, resource := range list.APIResources {
			if !slices.Contains(resource.Verbs, "list") || resource.Kind == "ComponentStatus" {
				continue
			}
			found := &unstructured.UnstructuredList{}
			found.SetGroupVersionKind(version.WithKind(resource.Kind + "List"))
			if err := reader.List(ctx, found); err != nil {
				return nil, fmt.Errorf("list %s %s: %w", version, resource.Kind, err)
			}
			for i := range found.Items {
				taken.add(&found.Items[i], neutral)
			}
		}
	}
	return taken, nil
}

// Traces are the objects of which managers own fields whose names begin so.
func (s Snapshot) Traces(managers string) []string {
	var found []string
	for key, content := range s {
		entries, _, _ := unstructured.NestedSlice(content, "metadata", "managedFields")
		for _, entry := range entries {
			if manager, _ := entry.(map[string]any)["manager"].(string); strings.HasPrefix(manager, managers) {
				found = append(found, key)
			}
		}
	}
	return found
}

func (s Snapshot) add(object *unstructured.Unstructured, neutral Neutral) {
	key := strings.Join([]string{object.GetAPIVersion(), object.GetKind(), object.GetNamespace(), object.GetName()}, " ")
	object = object.DeepCopy()
	if isOfAPIServer(object) || !neutral(object) {
		return
	}
	content := object.Object
	metadata, _ := content["metadata"].(map[string]any)
	// Every write moves it, and what was written and taken back were writes.
	delete(metadata, "resourceVersion")
	entries, _ := metadata["managedFields"].([]any)
	for _, entry := range entries {
		delete(entry.(map[string]any), "time")
	}
	if conditions, found, _ := unstructured.NestedSlice(content, "status", "conditions"); found {
		_ = unstructured.SetNestedSlice(content, neutralConditions(conditions), "status", "conditions")
	}
	s[key] = content
}

// isOfAPIServer: a lease that the API server renews, or an event by which it
// tells at times of the address that it gave to a Service.
func isOfAPIServer(object *unstructured.Unstructured) bool {
	for _, field := range []string{"reportingController", "reportingComponent"} {
		if object.Object[field] == "ipallocator-repair-controller" {
			return true
		}
	}
	return object.GetKind() == "Lease" && strings.HasPrefix(object.GetName(), "apiserver-")
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
