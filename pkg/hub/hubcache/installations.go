package hubcache

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
)

// Installations has what the installations of add-ons on managed clusters wait for. It is safe for concurrent use.
type Installations struct {
	lifecycle bool

	mutex sync.Mutex
	// planned are the waits of what Placements install; nil before the first plan.
	planned map[types.NamespacedName]evaluation.Wait
	// decided are the waits of what is installed by AddOnInstallations. complete is true once each of them was decided on.
	decided  map[types.NamespacedName]evaluation.Wait
	complete bool
}

// NewInstallations returns an empty store. Without the lifecycle, nothing is installed.
func NewInstallations(lifecycle bool) *Installations {
	return &Installations{lifecycle: lifecycle, decided: map[types.NamespacedName]evaluation.Wait{}}
}

// Wait returns what the installation of an add-on waits for.
func (i *Installations) Wait(addOn types.NamespacedName) evaluation.Wait {
	if !i.lifecycle {
		return evaluation.NoWait
	}
	i.mutex.Lock()
	defer i.mutex.Unlock()
	if wait, ok := i.decided[addOn]; ok {
		return wait
	}
	if wait, ok := i.planned[addOn]; ok {
		return wait
	}
	if i.planned == nil || !i.complete {
		return evaluation.WaitUnknown
	}
	return evaluation.WaitForInterlock
}

// Plan replaces the waits of what Placements install. All others follow at once. It reports which of the add-ons wait for something else than
// before.
func (i *Installations) Plan(waits map[types.NamespacedName]evaluation.Wait) (changed func(addOn types.NamespacedName) bool) {
	i.mutex.Lock()
	defer i.mutex.Unlock()
	before := i.planned
	i.planned = waits
	return func(addOn types.NamespacedName) bool { return before == nil || before[addOn] != waits[addOn] }
}

// Set replaces the wait of an add-on that is installed by an AddOnInstallation; NoWait: it follows at once. It reports whether the wait is
// another one than before.
func (i *Installations) Set(addOn types.NamespacedName, wait evaluation.Wait) (changed bool) {
	i.mutex.Lock()
	defer i.mutex.Unlock()
	changed = i.decided[addOn] != wait
	if wait == evaluation.NoWait {
		delete(i.decided, addOn)
	} else {
		i.decided[addOn] = wait
	}
	return changed
}

// Complete reports that each AddOnInstallation was decided on. It returns false if that was so before.
func (i *Installations) Complete() (first bool) {
	i.mutex.Lock()
	defer i.mutex.Unlock()
	first, i.complete = !i.complete, true
	return first
}
