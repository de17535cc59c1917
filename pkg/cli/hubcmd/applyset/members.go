package applyset

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	releaseutil "helm.sh/helm/v4/pkg/release/v1/util"
)

// Member is an object of the set, without its content.
type Member struct{ metav1.PartialObjectMetadata }

// String returns kind, namespace and name.
func (m *Member) String() string { return describe(m) }

// Key identifies an object in a set, whatever its version.
type Key struct {
	schema.GroupKind
	Namespace, Name string
}

// KeyOf returns the key of an object.
func KeyOf(object client.Object) Key {
	return Key{object.GetObjectKind().GroupVersionKind().GroupKind(), object.GetNamespace(), object.GetName()}
}

func describe(object client.Object) string {
	return object.GetObjectKind().GroupVersionKind().Kind + " " + strings.TrimPrefix(object.GetNamespace()+"/"+object.GetName(), "/")
}

// Describe returns kind, namespace and name of an object.
func Describe(object *unstructured.Unstructured) string { return describe(object) }

// Members lists the objects of some kinds that have the label of the set, in the order in which Helm deletes. It skips kinds that the
// hub does not have.
func (s *Set) Members(ctx context.Context, kinds []schema.GroupKind) ([]*Member, error) {
	var members []*Member
	for _, kind := range kinds {
		mapping, err := s.Client.RESTMapper().RESTMapping(kind)
		if meta.IsNoMatchError(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(mapping.GroupVersionKind.GroupVersion().WithKind(kind.Kind + "List"))
		options := []client.ListOption{client.MatchingLabels{partOfLabel: s.ID()}}
		if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
			options = append(options, client.InNamespace(s.Parent.Namespace))
		}
		err = s.Client.List(ctx, list, options...)
		if err != nil && !apierrors.IsNotFound(err) {
			return nil, fmt.Errorf("list objects of kind %s: %w", kind, err)
		}
		for i := range list.Items {
			member := &Member{list.Items[i]}
			member.SetGroupVersionKind(mapping.GroupVersionKind)
			members = append(members, member)
		}
	}
	slices.SortStableFunc(members, func(a, b *Member) int { return deletionOrder(a.Kind) - deletionOrder(b.Kind) })
	return members, nil
}

func deletionOrder(kind string) int {
	place := slices.Index(releaseutil.UninstallOrder, kind)
	if place < 0 {
		return len(releaseutil.UninstallOrder)
	}
	return place
}

// Obsolete returns the members that are not among the applied objects, and the kinds of members that stay nevertheless.
func Obsolete(members []*Member, applied []*unstructured.Unstructured) (obsolete []*Member, kept []schema.GroupKind) {
	current := map[Key]bool{}
	for _, object := range applied {
		current[KeyOf(object)] = true
	}
	for _, member := range members {
		switch {
		case current[KeyOf(member)]:
		case isKept(member):
			kept = append(kept, member.GroupVersionKind().GroupKind())
		default:
			obsolete = append(obsolete, member)
		}
	}
	return obsolete, kept
}

// Delete deletes a member, and the objects that it owns, unless another object has replaced it.
func (s *Set) Delete(ctx context.Context, member *Member) error {
	err := s.Client.Delete(ctx, &member.PartialObjectMetadata,
		client.Preconditions{UID: ptr.To(member.UID)}, client.PropagationPolicy(metav1.DeletePropagationForeground))
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// DeleteParent deletes the parent.
func (s *Set) DeleteParent(ctx context.Context) error {
	parent := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: s.Parent.Namespace, Name: s.Parent.Name}}
	parent.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "Secret"})
	return client.IgnoreNotFound(s.Client.Delete(ctx, parent))
}
