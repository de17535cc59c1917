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
	// waits is nil before the first plan.
	waits map[types.NamespacedName]evaluation.Wait
}

// NewInstallations returns an empty store. Without the lifecycle, nothing is installed.
func NewInstallations(lifecycle bool) *Installations { return &Installations{lifecycle: lifecycle} }

// Wait returns what the installation of an add-on waits for.
func (i *Installations) Wait(addOn types.NamespacedName) evaluation.Wait {
	if !i.lifecycle {
		return evaluation.NoWait
	}
	i.mutex.Lock()
	defer i.mutex.Unlock()
	switch waits, ok := i.waits[addOn]; {
	case i.waits == nil:
		return evaluation.WaitUnknown
	case ok:
		return waits
	}
	return evaluation.WaitForInterlock
}

// Plan replaces what installations wait for. All others follow at once. It reports which of the add-ons wait for something else than before.
func (i *Installations) Plan(waits map[types.NamespacedName]evaluation.Wait) (changed func(addOn types.NamespacedName) bool) {
	i.mutex.Lock()
	defer i.mutex.Unlock()
	before := i.waits
	i.waits = waits
	return func(addOn types.NamespacedName) bool { return before == nil || before[addOn] != waits[addOn] }
}
