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
	// Reduced returns the memory that Take uses from one snapshot to the next.
	Reduced() *Reduced
}

// Reduced has the reduced forms of stored add-ons: without the parts that no declaration reads. A snapshot shares the form of an add-on
// that has not changed since the last snapshot, so that it takes little time and memory. The zero value is empty.
type Reduced struct {
	// byNamespace has the add-ons of the last snapshot by the namespace that was read, which is empty for all namespaces.
	byNamespace map[string]reducedAddOns
}

// reducedAddOns are the reduced forms of stored add-ons.
type reducedAddOns struct {
	// addOns has the reduced forms by the stored objects.
	addOns map[*addonv1alpha1.ManagedClusterAddOn]*addonv1alpha1.ManagedClusterAddOn
	// keys has the kept labels, annotations and variables, by the name of the add-on.
	keys map[string]expression.Keys
}

// from returns the reduced forms of stored add-ons.
func (r *Reduced) from(namespace string, stored []*addonv1alpha1.ManagedClusterAddOn, unread *unread) []*addonv1alpha1.ManagedClusterAddOn {
	previous := r.byNamespace[namespace]
	current := reducedAddOns{
		addOns: make(map[*addonv1alpha1.ManagedClusterAddOn]*addonv1alpha1.ManagedClusterAddOn, len(stored)), keys: map[string]expression.Keys{},
	}
	reduced := make([]*addonv1alpha1.ManagedClusterAddOn, 0, len(stored))
	readsSame := map[string]bool{}
	for _, full := range stored {
		if _, ok := current.keys[full.Name]; !ok {
			current.keys[full.Name] = unread.keysOf(full.Name)
			readsSame[full.Name] = current.keys[full.Name].Equal(previous.keys[full.Name])
		}
		kept := previous.addOns[full]
		if kept == nil || !readsSame[full.Name] {
			kept = LeanAddOn(full)
			unread.removeFrom(kept)
		}
		unread.keepVariables(kept)
		current.addOns[full] = kept
		reduced = append(reduced, kept)
	}
	if r.byNamespace == nil {
		r.byNamespace = map[string]reducedAddOns{}
	}
	r.byNamespace[namespace] = current
	return reduced
}
