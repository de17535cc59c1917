package graft

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/kube/leaseannotation"
)

// MarkAnnotation is the annotation of the lease of addon-manager's leader election that is true while
// grafting is on. An addon-manager without a setting needs it if another writer
// replaced the CRD, and the graft with it, while no addon-manager ran.
//
// Records of declarations cannot serve as the mark: they stay when grafting is turned off.
const MarkAnnotation = "interlock.open-cluster-management.io/graft-crds"

const markValue = "true"

// mark stores on the hub that grafting is on. Only the leader changes it.
type mark struct {
	// lease is the lease with the annotation. Without a name, the mark is only in memory.
	lease client.ObjectKey
	// grafting is the value of the mark, and loaded is true if it has been read.
	grafting, loaded bool
}

// get returns the mark of this or an earlier process.
func (m *mark) get(ctx context.Context, hub client.Client) (bool, error) {
	if !m.loaded && m.lease.Name != "" {
		value, err := leaseannotation.Get(ctx, hub, m.lease, MarkAnnotation)
		if err != nil {
			return false, fmt.Errorf("read lease %s: %w", m.lease, err)
		}
		m.grafting, m.loaded = value == markValue, true
	}
	return m.grafting, nil
}

// set changes the mark, unless it has the value already.
func (m *mark) set(ctx context.Context, hub client.Client, grafting bool) error {
	if stored, err := m.get(ctx, hub); err != nil || stored == grafting {
		return err
	}
	if m.lease.Name != "" {
		value := ""
		if grafting {
			value = markValue
		}
		if err := leaseannotation.Set(ctx, hub, m.lease, MarkAnnotation, value); err != nil {
			return fmt.Errorf("mark lease %s: %w", m.lease, err)
		}
	}
	m.grafting = grafting
	return nil
}
