// Package stability explores every schedule of the writers of an add-on's
// conditions: Interlock's real decision functions, the guard's real policy, and
// the rules of OCM's own components. With all inputs fixed, every fair schedule
// has to end in a state that no step leaves.
package stability

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"

	"open-cluster-management.io/interlock/pkg/availability"
	"open-cluster-management.io/interlock/test/stability/stock"
)

// World holds all inputs that do not change while the writers run.
type World struct {
	Mode ocmv1alpha1.HealthCheckMode
	// AddOnLease is the add-on's own lease. It is set only in Lease mode.
	AddOnLease stock.Lease
	// Prober and Work are the inputs of the add-on's manager when it probes. They are set only in Customized mode.
	// Without a prober the manager is dead.
	Prober stock.Prober
	Work   stock.Work
	// RegistrationAgent and AddOnAgent report whether these processes run.
	// The cluster's lease is live exactly while the registration agent runs.
	RegistrationAgent, AddOnAgent bool
	Guard                         bool
	Dependency                    Dependency
	// Resync reports that informers resync, every 10 to 30 minutes. Each component
	// then acts from time to time without an event too.
	Resync bool
	// NoInterlock reports whether Interlock is not installed.
	NoInterlock bool
}

// Dependency is the add-on's declared dependency, and whether it is satisfied.
type Dependency string

// The states of the add-on's dependency.
const (
	Satisfied       Dependency = "satisfied"
	RequiredMissing Dependency = "required, missing"
	OptionalMissing Dependency = "optional, missing"
)

func (w World) String() string {
	parts := []string{"Lease mode", "lease " + string(w.AddOnLease)}
	if w.customized() {
		parts = []string{"Customized mode", fmt.Sprintf("prober %s", w.Prober), "work " + string(w.Work)}
		if w.Prober == "" {
			parts = []string{"Customized mode", "no manager"}
		}
	}
	if w.Resync {
		parts = append(parts, "resync")
	}
	parts = append(parts, "registration agent "+alive(w.RegistrationAgent))
	if w.NoInterlock {
		return strings.Join(append(parts, "no Interlock"), ", ")
	}
	parts = append(parts, "addon-agent "+alive(w.AddOnAgent), map[bool]string{true: "guard", false: "no guard"}[w.Guard])
	return strings.Join(append(parts, "dependency "+string(w.Dependency)), ", ")
}

func alive(runs bool) string {
	if runs {
		return "alive"
	}
	return "dead"
}

func (w World) customized() bool { return w.Mode == ocmv1alpha1.HealthCheckModeCustomized }

func (w World) clusterLease() stock.Lease {
	if w.RegistrationAgent {
		return stock.LiveLease
	}
	return stock.StoppedLease
}

// State is the changing part of a world. It is small, because there are millions of states.
type State struct {
	// Available and Degraded are the add-on's stored conditions.
	Available, Degraded entry
	// DegradedSeen is Degraded in addon-agent's cache.
	DegradedSeen entry
	// Lost reports that the ManagedCluster's condition Available is Unknown. LostOnHub and LostInAddOnManager are the
	// same in a cache.
	Lost, LostOnHub, LostInAddOnManager bool
	// ClusterLeaseSeen is the cluster's lease in the hub's cache.
	ClusterLeaseSeen leaseSeen
	// AddOnLeaseSeen is the add-on's lease in addon-agent's cache.
	AddOnLeaseSeen leaseSeen
	// Label is the ManagedCluster's label for the add-on.
	Label label
	// Memory is the memory of addon-agent.
	Memory memory
	// Pending are the components with an event to handle.
	Pending events
}

// events is a set of components that have an event to handle.
type events uint8

const (
	toClusterHealth events = 1 << iota
	toFeatureDiscovery
	toHealthCheck
	toAddOnManager
	toAddOnAgent
	toRegistration
	toConfiguration
	toProgressing
)

type label uint8

var labels = []string{"available", "unhealthy", "unreachable"}

// leaseSeen is a lease in a cache.
type leaseSeen uint8

const unobserved leaseSeen = 3

var leases = []stock.Lease{stock.NoLease, stock.LiveLease, stock.StoppedLease}

func seen(lease stock.Lease) leaseSeen {
	for i := range leases {
		if leases[i] == lease {
			return leaseSeen(i)
		}
	}
	return unobserved
}

func (l leaseSeen) String() string {
	if l == unobserved {
		return "unobserved"
	}
	return string(leases[l])
}

func clusterStatus(lost bool) metav1.ConditionStatus {
	if lost {
		return metav1.ConditionUnknown
	}
	return metav1.ConditionTrue
}

func requiredFails(degraded *metav1.Condition) bool {
	return degraded != nil && degraded.Status == metav1.ConditionTrue &&
		degraded.Reason == availability.ReasonRequiredDependencyNotSatisfied
}
