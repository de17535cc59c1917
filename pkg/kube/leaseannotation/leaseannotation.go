// Package leaseannotation stores state of addon-manager in annotations on the lease of its
// leader election. addon-manager already has the right to write the lease, no other component
// writes it, and uninstalling deletes it.
package leaseannotation

import (
	"context"
	"maps"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/names"
)

// Get reads an annotation. It returns an empty value if there is none.
func Get(ctx context.Context, hub client.Reader, key client.ObjectKey, name string) (string, error) {
	lease, err := get(ctx, hub, key)
	if err != nil {
		return "", err
	}
	return lease.GetAnnotations()[name], nil
}

// Set writes an annotation unless it has that value. An empty value removes the annotation.
// It retries after a conflict with a renewal by the leader election. The next renewal keeps
// the annotation.
func Set(ctx context.Context, hub client.Client, key client.ObjectKey, name, value string) error {
	return SetFor(ctx, hub, key, func(string) map[string]string { return map[string]string{name: value} })
}

// SetFor writes the desired annotations for the holder of the lease in a single request. See
// Set for each of them.
func SetFor(ctx context.Context, hub client.Client, key client.ObjectKey, desired func(holder string) map[string]string) error {
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error { return set(ctx, hub, key, desired) })
}

func set(ctx context.Context, hub client.Client, key client.ObjectKey, desired func(holder string) map[string]string) error {
	lease, err := get(ctx, hub, key)
	if err != nil {
		return err
	}
	holder, _, err := unstructured.NestedString(lease.Object, "spec", "holderIdentity")
	if err != nil {
		return err
	}
	stored := lease.GetAnnotations()
	changed := maps.Clone(stored)
	for name, value := range desired(holder) {
		if value == "" {
			delete(changed, name)
			continue
		}
		if changed == nil {
			changed = map[string]string{}
		}
		changed[name] = value
	}
	if maps.Equal(stored, changed) {
		return nil
	}
	lease.SetAnnotations(changed)
	return hub.Update(ctx, lease, client.FieldOwner(names.AddonManager))
}

// get reads the lease as unstructured, which no cache serves.
func get(ctx context.Context, hub client.Reader, key client.ObjectKey) (*unstructured.Unstructured, error) {
	lease := &unstructured.Unstructured{}
	lease.SetGroupVersionKind(coordinationv1.SchemeGroupVersion.WithKind("Lease"))
	return lease, hub.Get(ctx, key, lease)
}
