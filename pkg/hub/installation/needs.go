package installation

import (
	"cmp"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/installation"
	"open-cluster-management.io/interlock/pkg/trigger"
)

// Needs remembers what add-ons need installed on their managed clusters, as they were evaluated last. It is safe for concurrent
// use.
type Needs struct {
	// Changed triggers the controller of installations.
	Changed *trigger.Trigger

	mutex sync.Mutex
	// of are the needed add-ons, by the one that needs them.
	of map[types.NamespacedName][]string
}

// Found remembers what an add-on needs by its findings. Without findings, it needs nothing.
func (n *Needs) Found(addOn types.NamespacedName, declared *evaluation.Evaluator, findings []evaluation.Finding) {
	var needed []string
	if len(findings) > 0 {
		needed = installation.Needed(declared.Catalog, findings)
	}
	n.mutex.Lock()
	before := n.of[addOn]
	switch {
	case len(needed) == 0:
		delete(n.of, addOn)
	case n.of == nil:
		n.of = map[types.NamespacedName][]string{addOn: needed}
	default:
		n.of[addOn] = needed
	}
	n.mutex.Unlock()
	if len(needed) > 0 && !slices.Equal(before, needed) {
		n.Changed.EnqueueAfter(gather, Key)
	}
}

// need is an add-on that others need on a managed cluster.
type need struct {
	installation.Target
	// dependents are those, ascending.
	dependents []string
}

// all returns what is needed, ascending by add-on and cluster.
func (n *Needs) all() []need {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	by := map[installation.Target][]string{}
	for dependent, needed := range n.of {
		for _, addOn := range needed {
			target := installation.Target{Cluster: dependent.Namespace, AddOn: addOn}
			by[target] = append(by[target], dependent.Name)
		}
	}
	all := make([]need, 0, len(by))
	for target, dependents := range by {
		slices.Sort(dependents)
		all = append(all, need{target, dependents})
	}
	slices.SortFunc(all, func(a, b need) int { return cmp.Or(cmp.Compare(a.AddOn, b.AddOn), cmp.Compare(a.Cluster, b.Cluster)) })
	return all
}
