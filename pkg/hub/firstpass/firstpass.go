// Package firstpass tracks the add-ons that a new leader has not assessed yet. Until it has assessed all of them, it does not know their
// dependencies, so it installs and removes no add-on on demand, and writes no settings.
package firstpass

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"open-cluster-management.io/interlock/pkg/kube/trigger"
)

// Everywhere means all managed clusters.
const Everywhere = ""

// Pass is the first assessment of each ManagedClusterAddOn that existed when this process began to lead. An add-on whose assessment fails
// counts as tried, and delays only the actions on its managed cluster. A Pass is safe for concurrent use. A nil Pass is complete.
type Pass struct {
	mutex sync.Mutex
	// listed is true once all add-ons that existed have been added.
	listed bool
	// untried has the add-ons without any result: neither an assessment nor an error.
	untried sets.Set[types.NamespacedName]
	// failing has the add-ons whose assessments have all failed, by managed cluster.
	failing map[string]sets.Set[types.NamespacedName]
	waiters sets.Set[waiter]
}

// waiter is a key of a controller that waits until the pass is complete on a managed cluster, or everywhere.
type waiter struct {
	cluster string
	trigger *trigger.Trigger
	key     types.NamespacedName
}

// New returns a pass without add-ons.
func New() *Pass {
	return &Pass{
		untried: sets.New[types.NamespacedName](), failing: map[string]sets.Set[types.NamespacedName]{}, waiters: sets.New[waiter](),
	}
}

// Add adds an add-on that existed at the beginning.
func (p *Pass) Add(addOn types.NamespacedName) {
	p.change(func() { p.untried.Insert(addOn) })
}

// Listed ends the additions.
func (p *Pass) Listed() {
	p.change(func() { p.listed = true })
}

// Assessed records that an add-on has been assessed, or was deleted.
func (p *Pass) Assessed(addOn types.NamespacedName) {
	p.change(func() {
		p.untried.Delete(addOn)
		if p.failing[addOn.Namespace].Delete(addOn).Len() == 0 {
			delete(p.failing, addOn.Namespace)
		}
	})
}

// Failed records that the assessment of an add-on has failed. An add-on that has been assessed before still counts as assessed.
func (p *Pass) Failed(addOn types.NamespacedName) {
	p.change(func() {
		if !p.untried.Has(addOn) {
			return
		}
		p.untried.Delete(addOn)
		if p.failing[addOn.Namespace] == nil {
			p.failing[addOn.Namespace] = sets.New[types.NamespacedName]()
		}
		p.failing[addOn.Namespace].Insert(addOn)
	})
}

// Await reports whether the pass is complete on a managed cluster, or everywhere. If not, it enqueues the key later, when it is complete.
func (p *Pass) Await(cluster string, controller *trigger.Trigger, key types.NamespacedName) bool {
	if p == nil {
		return true
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.isOver(cluster) {
		return true
	}
	p.waiters.Insert(waiter{cluster, controller, key})
	return false
}

// isOver reports whether every add-on has a result, and no add-on on the managed cluster still fails.
func (p *Pass) isOver(cluster string) bool {
	return p.listed && p.untried.Len() == 0 && p.failing[cluster].Len() == 0
}

// change changes the pass, and enqueues the keys that no longer have to wait.
func (p *Pass) change(change func()) {
	if p == nil {
		return
	}
	for _, ready := range p.released(change) {
		ready.trigger.Enqueue(ready.key)
	}
}

// released changes the pass, and returns the waiters whose wait ends with the change.
func (p *Pass) released(change func()) []waiter {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	change()
	if p.waiters.Len() == 0 || !p.listed || p.untried.Len() > 0 { // the usual case
		return nil
	}
	var ready []waiter
	for candidate := range p.waiters {
		if p.isOver(candidate.cluster) {
			ready = append(ready, candidate)
			p.waiters.Delete(candidate)
		}
	}
	return ready
}
