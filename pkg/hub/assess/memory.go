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

// Memory has past states that the objects of the hub no longer show. Event handlers fill
// it.
type Memory struct {
	// Outages has the losses of clusters.
	Outages *outage.Tracker
	// rollouts has, by the key of the add-on, the rollouts of AddOnTemplates that are in progress.
	rollouts         sync.Map
	unavailabilities unavailabilities
}

// rollout is the rollout of an AddOnTemplate.
type rollout struct {
	// template is the AddOnTemplate that counts as running during the rollout.
	template string
	// first is true if no template ran before. Then template is about to be installed.
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

// Lapse implements fleet.Memory. It does not record an add-on that is not installed, because
// a missing add-on is never tolerated.
func (m *Memory) Lapse(addOn types.NamespacedName, observed *evaluation.Observation) evaluation.Lapse {
	if !observed.Installed {
		return evaluation.Lapse{}
	}
	return m.unavailabilities.observe(addOn, observed.Works())
}

// Forget drops the state of an add-on that was deleted.
func (m *Memory) Forget(addOn types.NamespacedName) {
	m.rollouts.Delete(addOn)
	m.unavailabilities.forget(addOn)
}

// observe records the AddOnTemplate that ran before a rollout, until the rollout ends. OCM
// removes that template from an add-on's status when the rollout on its cluster begins.
// During the first installation, the template that OCM is about to install counts, because OCM
// may choose another template before one runs. A process that starts during a rollout does
// not know the previous template.
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
