package stability

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"

	"open-cluster-management.io/interlock/pkg/availability"
	"open-cluster-management.io/interlock/test/stability/stock"
)

// worlds returns all worlds. Interlock's addon-manager always runs: while it does not, Degraded stays at the value of
// one of the starts.
func worlds() []World {
	var worlds []World
	for _, w := range inputs() {
		for _, agent := range []bool{true, false} {
			for _, guard := range []bool{true, false} {
				for _, dependency := range w.dependencies() {
					w.AddOnAgent, w.Guard, w.Dependency, w.Resync = agent, guard, dependency, false
					worlds = append(worlds, w)
					w.Resync = true
					worlds = append(worlds, w)
				}
			}
		}
	}
	return worlds
}

// dependencies returns the states of the dependency. An Optional dependency concerns Degraded alone, so it is missing
// only where the add-on is healthy.
func (w World) dependencies() []Dependency {
	if w.AddOnLease == stock.LiveLease || w.Work == stock.WorkHealthy {
		return []Dependency{RequiredMissing, Satisfied, OptionalMissing}
	}
	return []Dependency{RequiredMissing, Satisfied}
}

// works are states of ManifestWorks that differ for Interlock. It makes no difference whether
// Available is Unknown because works are not found, have no status, or no feedback.
var works = slices.DeleteFunc(slices.Clone(stock.Works), func(work stock.Work) bool {
	return work == stock.WorkNotFound || work == stock.WorkNoStatus
})

// inputs returns all worlds without Interlock.
func inputs() []World {
	var worlds []World
	for _, registrationAgent := range []bool{true, false} {
		for _, lease := range leases {
			worlds = append(worlds, World{Mode: ocmv1alpha1.HealthCheckModeLease, AddOnLease: lease, RegistrationAgent: registrationAgent})
		}
		customized := World{Mode: ocmv1alpha1.HealthCheckModeCustomized, RegistrationAgent: registrationAgent}
		worlds = append(worlds, customized)
		customized.Prober = stock.WorkProberWithoutFields
		worlds = append(worlds, customized)
		for _, prober := range []stock.Prober{stock.WorkProber, stock.DependentProber} {
			for _, work := range works {
				customized.Prober, customized.Work = prober, work
				worlds = append(worlds, customized)
			}
		}
	}
	return worlds
}

// starts returns every state from which a world may start: each condition stored by any writer at any time before,
// each cache out of date, each memory, and every component with an event to handle, as after a start of all of them.
func (m *model) starts() []State {
	var states []State
	memories, leasesSeen := []memory{0}, []leaseSeen{unobserved}
	if m.AddOnAgent && !m.NoInterlock {
		memories = m.interlock.memories()
		if m.customized() {
			memories = append(memories, memoryOf(recollection{awaiting: true}))
		}
		if !m.customized() {
			leasesSeen = []leaseSeen{unobserved, seen(stock.NoLease), seen(stock.LiveLease)}
		}
	}
	for _, available := range m.available() {
		for _, degraded := range m.degraded() {
			for _, memory := range memories {
				for _, lease := range leasesSeen {
					for bits := range 1 << 4 {
						s := State{
							Available: available, Degraded: degraded, Memory: memory, AddOnLeaseSeen: lease,
							Lost: bits&1 > 0, LostOnHub: bits&2 > 0, LostInAddOnManager: bits&4 > 0,
							DegradedSeen:     degraded,
							ClusterLeaseSeen: seen(stock.StoppedLease), Pending: m.running,
							Label: label(len(labels) - 1),
						}
						if bits&8 > 0 || !m.Resync {
							s.ClusterLeaseSeen = seen(m.clusterLease())
						}
						states = append(states, m.normal(s))
					}
				}
			}
		}
	}
	return states
}

// normal clears the fields that no component of the world uses.
func (m *model) normal(s State) State {
	if m.running&toHealthCheck == 0 {
		s.LostInAddOnManager = false
	}
	return s
}

func (m *model) degraded() []entry {
	if m.NoInterlock {
		return []entry{0}
	}
	return append(otherDegraded(), failing()...)
}

// available returns every value that may be stored as Available.
func (m *model) available() []entry {
	entries := []entry{0}
	add := func(condition metav1.Condition) {
		condition.Type, condition.LastTransitionTime = availability.ConditionAvailable, times[0]
		entries = append(entries, entryOf(&condition))
	}
	for _, rule := range []*stock.Rule{stock.AddOnLease, stock.ClusterHealth, stock.HealthCheck} {
		for i := range rule.Cases {
			if write := rule.Cases[i].Write; write.Available != nil && m.relevant(rule, write.Available) {
				add(*write.Available)
			}
		}
	}
	if m.NoInterlock {
		return entries
	}
	for _, degraded := range failing() {
		add(metav1.Condition{Status: metav1.ConditionFalse, Reason: required, Message: degraded.condition().Message})
	}
	for _, status := range []metav1.ConditionStatus{metav1.ConditionFalse, metav1.ConditionUnknown} {
		add(metav1.Condition{Status: status, Reason: availability.ReasonAwaitingHealthCheck, Message: "Waiting."})
	}
	return entries
}

// relevant reports whether written is worth a start. Of the conditions that no component of this world writes,
// because they come from another mode or from works in another state, one of each status is enough.
func (m *model) relevant(rule *stock.Rule, written *metav1.Condition) bool {
	switch rule {
	case stock.AddOnLease:
		return !m.customized() || written.Status == metav1.ConditionFalse
	case stock.HealthCheck:
		if available := rule.Decide(m.situation(State{}, false)).Available; available != nil && *available == *written {
			return true
		}
		return written.Reason == ocmv1alpha1.AddonAvailableReasonProbeAvailable ||
			m.customized() && written.Reason == ocmv1alpha1.AddonAvailableReasonNoProbeResult
	default:
		return true
	}
}
