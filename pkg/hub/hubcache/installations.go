package hubcache

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
)

// Installations has the reason for which each pending installation of an add-on waits. It is safe for concurrent use.
type Installations struct {
	lifecycle bool

	mutex sync.Mutex
	// decided has the waits by add-on. complete is true once each installation was decided on.
	decided  map[types.NamespacedName]evaluation.Wait
	complete bool
}

// NewInstallations returns an empty store. Without the lifecycle, nothing is installed.
func NewInstallations(lifecycle bool) *Installations {
	return &Installations{lifecycle: lifecycle, decided: map[types.NamespacedName]evaluation.Wait{}}
}

// Wait returns the reason for which the installation of an add-on waits.
func (i *Installations) Wait(addOn types.NamespacedName) evaluation.Wait {
	if !i.lifecycle {
		return evaluation.NoWait
	}
	i.mutex.Lock()
	defer i.mutex.Unlock()
	if wait, ok := i.decided[addOn]; ok {
		return wait
	}
	if !i.complete {
		return evaluation.WaitUnknown
	}
	return evaluation.WaitForInterlock
}

// Set replaces the wait of an add-on, and reports whether it has changed. NoWait means that the
// installation follows at once.
func (i *Installations) Set(addOn types.NamespacedName, wait evaluation.Wait) bool {
	i.mutex.Lock()
	defer i.mutex.Unlock()
	changed := i.decided[addOn] != wait
	if wait == evaluation.NoWait {
		delete(i.decided, addOn)
	} else {
		i.decided[addOn] = wait
	}
	return changed
}

// Complete records that each AddOnInstallation was decided on. It returns true for the first call.
func (i *Installations) Complete() bool {
	i.mutex.Lock()
	defer i.mutex.Unlock()
	isFirst := !i.complete
	i.complete = true
	return isFirst
}
