// Package components reads which parts of Interlock a hub runs, and in which versions.
package components

import (
	"context"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/names"
)

// DefaultNamespace is the namespace that Interlock is usually installed in.
const DefaultNamespace = "interlock-system"

// Webhook and Console are the names of the Deployments of the webhook and of the console, which is optional.
const (
	Webhook = "interlock-webhook"
	Console = "interlock-console"
)

// Hub is a hub that may run Interlock.
type Hub struct {
	client.Reader
	// Namespace is the namespace of Interlock.
	Namespace string
}

// Object reads an object. It returns nil if the object or its kind does not exist.
func (h Hub) Object(ctx context.Context, group, version, kind string, key client.ObjectKey) (*unstructured.Unstructured, error) {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(schema.GroupVersionKind{Group: group, Version: version, Kind: kind})
	err := h.Get(ctx, key, object)
	switch {
	case apierrors.IsNotFound(err), meta.IsNoMatchError(err):
		return nil, nil //nolint:nilnil // A missing object is no error.
	case err != nil:
		return nil, err
	}
	return object, nil
}

// Deployment reads a Deployment of Interlock. It returns nil if there is none.
func (h Hub) Deployment(ctx context.Context, name string) (*unstructured.Unstructured, error) {
	return h.Object(ctx, "apps", "v1", "Deployment", client.ObjectKey{Namespace: h.Namespace, Name: name})
}

// Agent returns the Deployment of addon-agent in the AddOnTemplate with which OCM deploys it. It returns nil if OCM deploys none.
func (h Hub) Agent(ctx context.Context) (*unstructured.Unstructured, error) {
	template, err := h.Object(ctx, addonv1alpha1.GroupVersion.Group, "v1alpha1", "AddOnTemplate", client.ObjectKey{Name: names.AgentAddOn})
	if err != nil || template == nil {
		return nil, err
	}
	for _, manifest := range MapsIn(template.Object, "spec", "agentSpec", "workload", "manifests") {
		if manifest["kind"] == "Deployment" {
			return &unstructured.Unstructured{Object: manifest}, nil
		}
	}
	return nil, nil //nolint:nilnil // A missing Deployment is no error.
}

// ImageOf returns the image of the first container of a Deployment.
func ImageOf(deployment *unstructured.Unstructured) string {
	for _, container := range MapsIn(deployment.Object, "spec", "template", "spec", "containers") {
		image, _ := container["image"].(string)
		return image
	}
	return ""
}

// VersionOf returns the version of a Deployment by the tag of its image. It returns an empty string without a Deployment or a tag.
func VersionOf(deployment *unstructured.Unstructured) string {
	if deployment == nil {
		return ""
	}
	image, _, _ := strings.Cut(ImageOf(deployment), "@")
	_, tag, _ := strings.Cut(image[strings.LastIndex(image, "/")+1:], ":")
	return Plain(tag)
}

// Plain returns a version without its leading v. It returns an empty string for the version of a build without one.
func Plain(version string) string {
	if version == "unknown" {
		return ""
	}
	return strings.TrimPrefix(version, "v")
}

// MapsIn returns the elements of a list field that are maps.
func MapsIn(object map[string]any, fields ...string) []map[string]any {
	list, _, _ := unstructured.NestedSlice(object, fields...)
	var elements []map[string]any
	for _, value := range list {
		if element, ok := value.(map[string]any); ok {
			elements = append(elements, element)
		}
	}
	return elements
}
