// Package applyset applies objects to a hub and remembers which, by the ApplySet specification of Kubernetes (KEP-3659): each object
// has a label with the ID of the set, and a Secret is the parent of the set. So objects that a later version lacks can be found and
// deleted, and other tools see that the objects belong together.
package applyset

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/version"
)

// Labels and annotations of the specification.
const (
	partOfLabel      = "applyset.kubernetes.io/part-of"
	idLabel          = "applyset.kubernetes.io/id"
	toolAnnotation   = "applyset.kubernetes.io/tooling"
	kindsAnnotation  = "applyset.kubernetes.io/contains-group-kinds"
	spacesAnnotation = "applyset.kubernetes.io/additional-namespaces"
)

// Tool is the field manager of all writes, and the name of the tool that manages the set.
const Tool = "kubectl-addon"

// keepAnnotation is Helm's annotation for objects that stay when the chart no longer renders them.
const keepAnnotation = "helm.sh/resource-policy"

// Set is a set of objects. Its parent is a Secret.
type Set struct {
	Client client.Client
	Parent types.NamespacedName
}

// ID is the ID of the set, which the specification derives from the parent.
func (s *Set) ID() string {
	hash := sha256.Sum256([]byte(strings.Join([]string{s.Parent.Name, s.Parent.Namespace, "Secret", ""}, ".")))
	return "applyset-" + base64.RawURLEncoding.EncodeToString(hash[:]) + "-v1"
}

// Read reads the parent. It returns nil if there is none, and an error if another tool manages it.
func (s *Set) Read(ctx context.Context) (*corev1.Secret, error) {
	parent := &corev1.Secret{}
	err := s.Client.Get(ctx, s.Parent, parent)
	switch tool, _, _ := strings.Cut(parent.Annotations[toolAnnotation], "/"); {
	case apierrors.IsNotFound(err):
		return nil, nil //nolint:nilnil // a missing parent is no error
	case err != nil:
		return nil, err
	case tool != Tool || parent.Labels[idLabel] != s.ID():
		return nil, fmt.Errorf("secret %s is not of kubectl addon hub: its annotation %s is %q", s.Parent, toolAnnotation, parent.Annotations[toolAnnotation])
	}
	return parent, nil
}

// Write writes the parent with its data. kinds are the kinds of all objects that may be in the set.
func (s *Set) Write(ctx context.Context, kinds []schema.GroupKind, data map[string][]byte) error {
	kindNames := make([]string, 0, len(kinds))
	for _, kind := range kinds {
		kindNames = append(kindNames, kind.String())
	}
	slices.Sort(kindNames)
	encoded := map[string]any{}
	for name, content := range data {
		encoded[name] = base64.StdEncoding.EncodeToString(content)
	}
	parent := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Secret", "data": encoded}}
	parent.SetNamespace(s.Parent.Namespace)
	parent.SetName(s.Parent.Name)
	parent.SetLabels(map[string]string{idLabel: s.ID(), "app.kubernetes.io/part-of": "interlock"})
	parent.SetAnnotations(map[string]string{
		toolAnnotation: Tool + "/" + version.Version, kindsAnnotation: strings.Join(slices.Compact(kindNames), ","), spacesAnnotation: "",
	})
	return s.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(parent), client.FieldOwner(Tool), client.ForceOwnership)
}

// Kinds returns the kinds of the objects that may be in the set of a parent, which may be nil.
func Kinds(parent *corev1.Secret) []schema.GroupKind {
	var kinds []schema.GroupKind
	if parent == nil {
		return nil
	}
	for kind := range strings.SplitSeq(parent.Annotations[kindsAnnotation], ",") {
		if kind != "" {
			kinds = append(kinds, schema.ParseGroupKind(kind))
		}
	}
	return kinds
}

// KindsOf returns the kinds of objects, and further kinds.
func KindsOf(objects []*unstructured.Unstructured, further ...schema.GroupKind) []schema.GroupKind {
	kinds := map[schema.GroupKind]bool{}
	for _, object := range objects {
		kinds[object.GroupVersionKind().GroupKind()] = true
	}
	for _, kind := range further {
		kinds[kind] = true
	}
	return slices.SortedFunc(maps.Keys(kinds), func(a, b schema.GroupKind) int { return strings.Compare(a.String(), b.String()) })
}

// Apply applies an object as part of the set. force takes over fields of other writers.
func (s *Set) Apply(ctx context.Context, object *unstructured.Unstructured, force bool, options ...client.ApplyOption) error {
	options = append(options, client.FieldOwner(Tool))
	if force {
		options = append(options, client.ForceOwnership)
	}
	return s.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(s.member(object)), options...)
}

// member returns a copy of an object with the label of the set.
func (s *Set) member(object *unstructured.Unstructured) *unstructured.Unstructured {
	member := object.DeepCopy()
	labels := member.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[partOfLabel] = s.ID()
	member.SetLabels(labels)
	return member
}

// isKept reports whether an object stays when it is no longer applied.
func isKept(object client.Object) bool { return object.GetAnnotations()[keepAnnotation] == "keep" }
