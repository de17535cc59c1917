package degraded

import (
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
