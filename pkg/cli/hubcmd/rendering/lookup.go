package rendering

import (
	"context"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// hubLookup lets templates look up objects of a hub. Helm's own fails where a right is missing, with an error that does not say so to
// programs.
type hubLookup struct {
	hub client.Client
	// denied has the objects that the user may not read, for which templates find nothing.
	denied []string
}

// GetClientFor implements engine.ClientProvider.
func (l *hubLookup) GetClientFor(apiVersion, kind string) (dynamic.NamespaceableResourceInterface, bool, error) {
	gvk := schema.FromAPIVersionAndKind(apiVersion, kind)
	mapping, err := l.hub.RESTMapper().RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		return nil, false, err
	}
	return lookedUp{lookup: l, kind: gvk}, mapping.Scope.Name() == meta.RESTScopeNameNamespace, nil
}

// lookedUp looks up objects of a kind. Templates of Interlock list none, so the other methods are missing.
type lookedUp struct {
	dynamic.NamespaceableResourceInterface
	lookup    *hubLookup
	kind      schema.GroupVersionKind
	namespace string
}

// Namespace implements dynamic.NamespaceableResourceInterface.
func (l lookedUp) Namespace(namespace string) dynamic.ResourceInterface {
	l.namespace = namespace
	return l
}

// Get implements dynamic.ResourceInterface.
func (l lookedUp) Get(ctx context.Context, name string, _ metav1.GetOptions, _ ...string) (*unstructured.Unstructured, error) {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(l.kind)
	key := types.NamespacedName{Namespace: l.namespace, Name: name}
	err := l.lookup.hub.Get(ctx, key, object)
	if apierrors.IsForbidden(err) {
		l.lookup.denied = append(l.lookup.denied, "get "+l.kind.Kind+" "+strings.TrimPrefix(key.String(), "/"))
		return nil, apierrors.NewNotFound(schema.GroupResource{Group: l.kind.Group, Resource: l.kind.Kind}, name)
	}
	return object, err
}
