package installation

import (
	"cmp"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

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
	// released are what add-ons do not use on their managed clusters, although they declare to.
	released map[types.NamespacedName][]string
	// decided are the add-ons of which it is known what they use on their managed clusters, of those for which that depends on the cluster.
	decided sets.Set[types.NamespacedName]
	// users are the add-ons that keep others from being removed, by the others.
	users map[string][]string
	// watched are what is not used on managed clusters, or may not be: the controller has to know when it is.
	watched map[string][]string
}

// Found remembers what an add-on needs by its findings. Without findings, it needs nothing.
func (n *Needs) Found(addOn types.NamespacedName, declared *evaluation.Evaluator, findings []evaluation.Finding) {
	var needed, released []string
	if len(findings) > 0 {
		needed, released = installation.Needed(declared.Catalog, findings), installation.Released(declared.Catalog, addOn.Name, findings)
	}
	n.mutex.Lock()
	changed := set(&n.of, addOn, needed) && len(needed) > 0
	changed = set(&n.released, addOn, released) || changed
	changed = n.decide(addOn, declared, findings) || changed
	n.mutex.Unlock()
	if changed {
		n.Changed.EnqueueAfter(gather, Key)
	}
}

// decide remembers whether it is known what an add-on uses, and reports whether it may be gone, or uses what was not used.
func (n *Needs) decide(addOn types.NamespacedName, declared *evaluation.Evaluator, findings []evaluation.Finding) (changed bool) {
	if len(findings) == 0 {
		n.decided.Delete(addOn)
		for _, users := range n.users {
			changed = changed || slices.Contains(users, addOn.Name)
		}
		return changed
	}
	if installation.Decided(declared.Catalog, addOn.Name, findings) {
		if n.decided == nil {
			n.decided = sets.New[types.NamespacedName]()
		}
		n.decided.Insert(addOn)
	}
	return !declared.TemplatesUnread(addOn.Name) && slices.ContainsFunc(n.watched[addOn.Namespace], func(other string) bool {
		return slices.Contains(n.users[other], addOn.Name) && !slices.Contains(n.released[addOn], other) &&
			(n.decided.Has(addOn) || !installation.MayRelease(declared.Catalog, addOn.Name, other))
	})
}

// set stores the values of an add-on, and reports whether they are others than before.
func set(all *map[types.NamespacedName][]string, addOn types.NamespacedName, values []string) (changed bool) {
	changed = !slices.Equal((*all)[addOn], values)
	switch {
	case len(values) == 0:
		delete(*all, addOn)
	case *all == nil:
		*all = map[types.NamespacedName][]string{addOn: values}
	default:
		(*all)[addOn] = values
	}
	return changed
}

// hasReleased reports whether an add-on does not use another one on its managed cluster, although it declares to.
func (n *Needs) hasReleased(addOn types.NamespacedName, used string) bool {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	return slices.Contains(n.released[addOn], used)
}

// isUndecided reports whether it is not known yet if an add-on uses another one on its managed cluster.
func (n *Needs) isUndecided(declared *evaluation.Evaluator, addOn types.NamespacedName, used string) bool {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	return declared.TemplatesUnread(addOn.Name) || installation.MayRelease(declared.Catalog, addOn.Name, used) && !n.decided.Has(addOn)
}

// follow triggers the controller from now on when one of the users is gone, or uses one of the targets.
func (n *Needs) follow(users map[string][]string, targets []installation.Target) {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	n.users, n.watched = users, map[string][]string{}
	for _, target := range targets {
		n.watched[target.Cluster] = append(n.watched[target.Cluster], target.AddOn)
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
