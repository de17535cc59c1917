// Package leaseannotation keeps what addon-manager shows or remembers on the lease by which
// it elects its leader: addon-manager may write that anyway, no other component writes it,
// and uninstalling deletes it.
package leaseannotation

import (
	"context"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/names"
)

// Get reads an annotation, empty where there is none.
func Get(ctx context.Context, hub client.Reader, key client.ObjectKey, name string) (string, error) {
	lease, err := get(ctx, hub, key)
	if err != nil {
		return "", err
	}
	return lease.GetAnnotations()[name], nil
}

// Set writes an annotation unless it has that value; empty removes it. A conflict is a
// renewal by the leader election, whose next renewal keeps the annotation.
func Set(ctx context.Context, hub client.Client, key client.ObjectKey, name, value string) error {
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error { return set(ctx, hub, key, name, value) })
}

func set(ctx context.Context, hub client.Client, key client.ObjectKey, name, value string) error {
	lease, err := get(ctx, hub, key)
	if err != nil || lease.GetAnnotations()[name] == value {
		return err
	}
	place := []string{"metadata", "annotations", name}
	if value == "" {
		unstructured.RemoveNestedField(lease.Object, place...)
	} else if err := unstructured.SetNestedField(lease.Object, value, place...); err != nil {
		return err
	}
	return hub.Update(ctx, lease, client.FieldOwner(names.AddonManager))
}

// get reads the lease as unstructured, which no cache serves.
func get(ctx context.Context, hub client.Reader, key client.ObjectKey) (*unstructured.Unstructured, error) {
	lease := &unstructured.Unstructured{}
	lease.SetGroupVersionKind(coordinationv1.SchemeGroupVersion.WithKind("Lease"))
	return lease, hub.Get(ctx, key, lease)
}
