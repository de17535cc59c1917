package facts

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/hub/outage"
)

// Memory has the times since when agents are silent or have not processed a request. The
// objects of the hub do not have them.
type Memory struct {
	Outages *outage.Tracker
	// silentAgents has the time since when an agent's sign of life is missing. pendingRequests has
	// the time since when a needed fact is missing in the request to a cluster.
	silentAgents, pendingRequests *outage.Tracker
}

var _ fleet.AgentMemory = &Memory{}

// NewMemory returns a memory that uses the recorded outages of clusters.
func NewMemory(clk clock.PassiveClock, outages *outage.Tracker) *Memory {
	return &Memory{Outages: outages, silentAgents: outage.New(clk), pendingRequests: outage.New(clk)}
}

// Back implements fleet.AgentMemory.
func (m *Memory) Back(cluster string, status metav1.ConditionStatus) time.Time {
	return m.Outages.Observe(cluster, status)
}

// Found implements fleet.AgentMemory.
func (m *Memory) Found(addOn types.NamespacedName) time.Time { return m.Outages.FirstSeen(addOn) }

// Silent implements fleet.AgentMemory.
func (m *Memory) Silent(agent types.NamespacedName) time.Time { return m.silentAgents.FirstSeen(agent) }

// Alive implements fleet.AgentMemory.
func (m *Memory) Alive(agent types.NamespacedName) { m.silentAgents.Reported(agent) }

// Awaited implements fleet.AgentMemory.
func (m *Memory) Awaited(cluster string) time.Time {
	return m.pendingRequests.FirstSeen(pendingKey(cluster))
}

// Requested implements fleet.AgentMemory.
func (m *Memory) Requested(cluster string) { m.pendingRequests.Reported(pendingKey(cluster)) }

// forget drops the times of a cluster without requested facts.
func (m *Memory) forget(cluster string) {
	m.pendingRequests.Forget(cluster)
	m.silentAgents.Forget(cluster)
}

// pendingKey returns the key of a cluster in pendingRequests.
func pendingKey(cluster string) types.NamespacedName { return types.NamespacedName{Namespace: cluster} }
