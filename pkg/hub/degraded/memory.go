package degraded

import (
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/hub/outage"
)

// Memory remembers what the objects of the hub no longer show. Handlers of events
// fill it.
type Memory struct {
	// Outages remembers losses of clusters.
	Outages  *outage.Tracker
	rollouts rollouts
}

var _ fleet.Memory = &Memory{}

// NewMemory returns an empty memory.
func NewMemory(clk clock.PassiveClock) *Memory { return &Memory{Outages: outage.New(clk)} }

// Back implements fleet.Memory.
func (m *Memory) Back(cluster string, status metav1.ConditionStatus) time.Time {
	return m.Outages.Observe(cluster, status)
}

// Found implements fleet.Memory.
func (m *Memory) Found(addOn types.NamespacedName) time.Time { return m.Outages.Found(addOn) }

// RunningTemplate implements fleet.Memory.
func (m *Memory) RunningTemplate(addOn types.NamespacedName) string { return m.rollouts.from(addOn) }

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
