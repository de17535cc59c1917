package graft

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/leaseannotation"
)

// MarkAnnotation on the lease of addon-manager's leader election is true while
// grafting is on. An addon-manager without a setting needs it where another writer
// replaced the CRD, and the graft with it, while no addon-manager ran.
//
// Records of declarations are no such mark: they stay when grafting is turned off.
const MarkAnnotation = "interlock.open-cluster-management.io/graft-crds"

const marked = "true"

// mark remembers on the hub that grafting is on. Only the leader changes it.
type mark struct {
	// lease is where; without a name, only this process remembers.
	lease    client.ObjectKey
	on, read bool
}

// isOn returns what this or an earlier process has marked.
func (m *mark) isOn(ctx context.Context, hub client.Client) (bool, error) {
	if !m.read && m.lease.Name != "" {
		value, err := leaseannotation.Get(ctx, hub, m.lease, MarkAnnotation)
		if err != nil {
			return false, fmt.Errorf("read lease %s: %w", m.lease, err)
		}
		m.on, m.read = value == marked, true
	}
	return m.on, nil
}

// set marks whether grafting is on, where that is not marked yet.
func (m *mark) set(ctx context.Context, hub client.Client, on bool) error {
	if is, err := m.isOn(ctx, hub); err != nil || is == on {
		return err
	}
	if m.lease.Name != "" {
		value := ""
		if on {
			value = marked
		}
		if err := leaseannotation.Set(ctx, hub, m.lease, MarkAnnotation, value); err != nil {
			return fmt.Errorf("mark lease %s: %w", m.lease, err)
		}
	}
	m.on = on
	return nil
}
