package assess

import (
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/hub/outage"
)

// Memory remembers what the objects of the hub no longer show. Handlers of events
// fill it.
type Memory struct {
	// Outages remembers losses of clusters.
	Outages *outage.Tracker
	// running has, by the key of the add-on, what runs while an AddOnTemplate is being rolled
	// out.
	rollouts sync.Map
	unavailabilities  unavailabilities
}

// ran is what counts as running during a rollout.
type rollout struct {
	template string
	// first: it is being installed itself, and none ran before.
	first bool
}

var _ fleet.Memory = &Memory{}

// NewMemory returns an empty memory.
func NewMemory(clk clock.PassiveClock) *Memory {
	return &Memory{Outages: outage.New(clk), unavailabilities: unavailabilities{clock: clk}}
}

// Back implements fleet.Memory.
func (m *Memory) Back(cluster string, status metav1.ConditionStatus) time.Time {
	return m.Outages.Observe(cluster, status)
}

// Found implements fleet.Memory.
func (m *Memory) Found(addOn types.NamespacedName) time.Time { return m.Outages.FirstSeen(addOn) }

// RunningTemplate implements fleet.Memory.
func (m *Memory) RunningTemplate(addOn types.NamespacedName) string {
	value, _ := m.rollouts.Load(addOn)
	state, _ := value.(rollout)
	return state.template
}

// Lapse implements fleet.Memory. Nothing is remembered of an add-on that is not installed,
// because that is never tolerated.
func (m *Memory) Lapse(addOn types.NamespacedName, observed *evaluation.Observation) evaluation.Lapse {
	if !observed.Installed {
		return evaluation.Lapse{}
	}
	return m.unavailabilities.observe(addOn, observed.Works())
}

// Forget drops all that is remembered of an add-on that was deleted.
func (m *Memory) Forget(addOn types.NamespacedName) {
	m.rollouts.Delete(addOn)
	m.unavailabilities.forget(addOn)
}

// observe keeps which AddOnTemplate ran before a rollout, and drops it when the rollout
// is over. OCM drops that from an add-on's status when the rollout on its cluster begins.
// While an add-on is being installed, the template that OCM is about to install counts: OCM may
// choose another one before any runs. A process that starts during a rollout does not know
// what ran before.
func (m *Memory) observe(addOn types.NamespacedName, previous, current fleet.Templates) {
	value, _ := m.rollouts.Load(addOn)
	state, _ := value.(rollout)
	switch {
	case current.Running != "" || current.RollingOut == "":
		m.rollouts.Delete(addOn)
	case previous.Running != "" && previous.Running != current.RollingOut:
		m.rollouts.Store(addOn, rollout{template: previous.Running})
	case state.first || previous == (fleet.Templates{}):
		m.rollouts.Store(addOn, rollout{template: current.RollingOut, first: true})
	}
}
