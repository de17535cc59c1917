package snapshot

import (
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	"open-cluster-management.io/interlock/pkg/availability"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
)

// memory derives the past state that addon-manager keeps from the times of conditions.
// No time is before its leader began to lead.
type memory struct{ *Snapshot }

var (
	_ fleet.Memory      = memory{}
	_ fleet.AgentMemory = memory{}
)

// Back implements fleet.Memory.
func (m memory) Back(name string, status metav1.ConditionStatus) time.Time {
	if status == metav1.ConditionUnknown {
		return time.Time{}
	}
	back := m.Manager.leads()
	if object := m.Object(name); object != nil {
		if condition := apimeta.FindStatusCondition(object.Status.Conditions, clusterv1.ManagedClusterConditionAvailable); condition != nil {
			back = evaluation.Later(back, condition.LastTransitionTime.Time)
		}
	}
	return back
}

// Found implements fleet.Memory.
func (m memory) Found(key types.NamespacedName) time.Time {
	since := m.Manager.leads()
	if addOn := m.AddOnOn(key); addOn != nil && fleet.Available(addOn) != nil {
		since = evaluation.Later(since, fleet.Available(addOn).LastTransitionTime.Time)
	}
	return since
}

// RunningTemplate implements fleet.Memory. OCM removes it from the status of an add-on when
// a rollout begins, and addon-manager keeps it in memory only.
func (m memory) RunningTemplate(types.NamespacedName) string { return "" }

// Lapse implements fleet.Memory with the time of the condition. A leader that began to lead
// later has not witnessed the beginning.
func (m memory) Lapse(_ types.NamespacedName, observed *evaluation.Observation) evaluation.Lapse {
	since := lapsed(observed)
	if leads := m.Manager.leads(); !since.IsZero() && leads.After(since) {
		return evaluation.Lapse{Since: leads, Unwitnessed: true}
	}
	return evaluation.Lapse{Since: since}
}

// lapsed returns the time of the condition by which an add-on does not work. It is zero if
// the add-on works, or if nothing was reported.
func lapsed(observed *evaluation.Observation) time.Time {
	switch {
	case !observed.Installed || observed.Works():
		return time.Time{}
	case availability.RequiredFails(observed.Degraded):
		return observed.Degraded.LastTransitionTime.Time
	case observed.Available != nil:
		return observed.Available.LastTransitionTime.Time
	default:
		return time.Time{}
	}
}

// Silent implements fleet.AgentMemory. The time of the removal of an agent's add-on is
// unknown, so it counts as long ago.
func (m memory) Silent(agent types.NamespacedName) time.Time { return m.Found(agent) }

// Alive implements fleet.AgentMemory.
func (m memory) Alive(types.NamespacedName) {}

// Awaited implements fleet.AgentMemory. addon-manager requests needed facts at once, so
// facts that are not requested yet became needed a moment ago.
func (m memory) Awaited(string) time.Time { return m.Taken }

// Requested implements fleet.AgentMemory.
func (m memory) Requested(string) {}
