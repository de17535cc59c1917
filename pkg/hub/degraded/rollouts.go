package degraded

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"open-cluster-management.io/interlock/pkg/fleet"
)

// rollouts remembers which AddOnTemplate runs while another is being rolled out:
// OCM drops that from an add-on's status when the rollout on its cluster begins. A
// process that starts during a rollout does not know it. The zero value is ready.
type rollouts struct {
	mutex   sync.Mutex
	running map[types.NamespacedName]string
}

// observe keeps what the status of an add-on had before a rollout, and drops it
// when the rollout is over.
func (r *rollouts) observe(addOn types.NamespacedName, before, after fleet.Templates) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	switch {
	case after.Running != "" || after.RollingOut == "":
		delete(r.running, addOn)
	case before.Running != "" && before.Running != after.RollingOut:
		if r.running == nil {
			r.running = map[types.NamespacedName]string{}
		}
		r.running[addOn] = before.Running
	}
}

// forget drops what is kept of an add-on that was deleted.
func (r *rollouts) forget(addOn types.NamespacedName) {
	r.observe(addOn, fleet.Templates{}, fleet.Templates{})
}

// from returns the template that ran when the rollout began; empty: not known.
func (r *rollouts) from(addOn types.NamespacedName) string {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.running[addOn]
}
