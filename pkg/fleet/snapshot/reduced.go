package snapshot

import (
	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/expression"
)

// Store is a hub that has add-ons on managed clusters in memory. A stored object never changes: when the add-on does, another object
// replaces it.
type Store interface {
	// StoredAddOns returns the add-ons in the namespace of a managed cluster, or all if it is empty. It returns false if they are not stored.
	StoredAddOns(namespace string) ([]*addonv1alpha1.ManagedClusterAddOn, bool)
	// Reduced returns what the last snapshots have kept of them.
	Reduced() *Reduced
}

// Reduced has the parts of stored add-ons that snapshots keep. A snapshot shares those of add-ons that have not changed since the last one,
// so that it takes little time and memory. The zero value is empty.
type Reduced struct {
	// byNamespace has the add-ons of the last snapshot, by the namespace that was read. It is empty for all.
	byNamespace map[string]reducedAddOns
}

// reducedAddOns has the reduced add-ons by the stored ones, and the keys that were kept, by the name of the add-on.
type reducedAddOns struct {
	addOns map[*addonv1alpha1.ManagedClusterAddOn]*addonv1alpha1.ManagedClusterAddOn
	keys   map[string]expression.Keys
}

// from returns the reduced add-ons of stored ones.
func (r *Reduced) from(namespace string, stored []*addonv1alpha1.ManagedClusterAddOn, unread *unread) []*addonv1alpha1.ManagedClusterAddOn {
	before := r.byNamespace[namespace]
	now := reducedAddOns{make(map[*addonv1alpha1.ManagedClusterAddOn]*addonv1alpha1.ManagedClusterAddOn, len(stored)), map[string]expression.Keys{}}
	reduced := make([]*addonv1alpha1.ManagedClusterAddOn, 0, len(stored))
	isSame := map[string]bool{}
	for _, full := range stored {
		if _, ok := now.keys[full.Name]; !ok {
			now.keys[full.Name] = unread.keysOf(full.Name)
			isSame[full.Name] = now.keys[full.Name].Equal(before.keys[full.Name])
		}
		kept := before.addOns[full]
		if kept == nil || !isSame[full.Name] {
			kept = LeanAddOn(full)
			unread.removeFrom(kept)
		}
		unread.keepVariables(kept)
		now.addOns[full] = kept
		reduced = append(reduced, kept)
	}
	if r.byNamespace == nil {
		r.byNamespace = map[string]reducedAddOns{}
	}
	r.byNamespace[namespace] = now
	return reduced
}
