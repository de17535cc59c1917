// Package firstpass knows which add-ons a new leader has not assessed yet. Before it has, it does not know what they need, so it
// installs, sets and removes nothing.
package firstpass

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"open-cluster-management.io/interlock/pkg/trigger"
)

// Everywhere stands for all managed clusters.
const Everywhere = ""

// Pass is the first assessment of each ManagedClusterAddOn that existed when this process began to lead. An add-on whose assessment fails
// counts as tried, and delays only the actions on its managed cluster. A Pass is safe for concurrent use. A nil Pass is over.
type Pass struct {
	mutex sync.Mutex
	// listed: all that existed have been added.
	listed bool
	// untried are the add-ons that have not been assessed, and not failed either.
	untried sets.Set[types.NamespacedName]
	// failing are the add-ons whose assessments have all failed, by managed cluster.
	failing map[string]sets.Set[types.NamespacedName]
	waiters sets.Set[waiter]
}

// waiter is a key of a controller that waits for the pass on a managed cluster, or everywhere.
type waiter struct {
	cluster string
	trigger *trigger.Trigger
	key     types.NamespacedName
}

// New returns a pass that has not begun.
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

// Assessed records that an add-on has been assessed, or does not exist any more.
func (p *Pass) Assessed(addOn types.NamespacedName) {
	p.change(func() {
		p.untried.Delete(addOn)
		if p.failing[addOn.Namespace].Delete(addOn).Len() == 0 {
			delete(p.failing, addOn.Namespace)
		}
	})
}

// Failed records that the assessment of an add-on has failed. One that has been assessed before stays so.
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

// Await reports whether the pass is over on a managed cluster, or everywhere. If not, it enqueues the key once it is.
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

// over reports whether every add-on has been tried, and none on the managed cluster still fails.
func (p *Pass) isOver(cluster string) bool {
	return p.listed && p.untried.Len() == 0 && p.failing[cluster].Len() == 0
}

// change changes the pass, and enqueues the keys that need not wait any more.
func (p *Pass) change(change func()) {
	if p == nil {
		return
	}
	for _, ready := range p.released(change) {
		ready.trigger.Enqueue(ready.key)
	}
}

// released changes the pass, and returns the waiters for which it is over now.
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
