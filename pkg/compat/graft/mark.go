package graft

import (
	"context"
	"fmt"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/names"
)

// MarkAnnotation on the lease of addon-manager's leader election is true while
// grafting is on. An addon-manager without a setting needs it where another writer
// replaced the CRD, and the graft with it, while no addon-manager ran.
//
// It is on the lease because addon-manager may write that anyway, no other component
// writes it, and uninstalling deletes it. Records of declarations are no such mark:
// they stay when grafting is turned off.
const MarkAnnotation = "interlock.open-cluster-management.io/graft-crds"

// mark remembers on the hub that grafting is on. Only the leader changes it.
type mark struct {
	// lease is where; without a name, only this process remembers.
	lease    client.ObjectKey
	on, read bool
}

// isOn returns what this or an earlier process has marked.
func (m *mark) isOn(ctx context.Context, hub client.Client) (bool, error) {
	if !m.read && m.lease.Name != "" {
		lease, err := m.get(ctx, hub)
		if err != nil {
			return false, fmt.Errorf("read lease %s: %w", m.lease, err)
		}
		m.on, m.read = lease.GetAnnotations()[MarkAnnotation] == "true", true
	}
	return m.on, nil
}

// set marks whether grafting is on, where that is not marked yet.
func (m *mark) set(ctx context.Context, hub client.Client, on bool) error {
	if marked, err := m.isOn(ctx, hub); err != nil || marked == on {
		return err
	}
	if m.lease.Name != "" {
		// A conflict is a renewal by the leader election, whose next renewal keeps the annotation.
		err := retry.RetryOnConflict(retry.DefaultBackoff, func() error { return m.write(ctx, hub, on) })
		if err != nil {
			return fmt.Errorf("mark lease %s: %w", m.lease, err)
		}
	}
	m.on = on
	return nil
}

func (m *mark) write(ctx context.Context, hub client.Client, on bool) error {
	lease, err := m.get(ctx, hub)
	if err != nil {
		return err
	}
	place := []string{"metadata", "annotations", MarkAnnotation}
	if !on {
		unstructured.RemoveNestedField(lease.Object, place...)
	} else if err := unstructured.SetNestedField(lease.Object, "true", place...); err != nil {
		return err
	}
	return hub.Update(ctx, lease, client.FieldOwner(names.AddonManager))
}

// get reads the lease as unstructured, which no cache serves.
func (m *mark) get(ctx context.Context, hub client.Client) (*unstructured.Unstructured, error) {
	lease := &unstructured.Unstructured{}
	lease.SetGroupVersionKind(coordinationv1.SchemeGroupVersion.WithKind("Lease"))
	return lease, hub.Get(ctx, m.lease, lease)
}
