package overview

import (
	"cmp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/report"
)

// State is the state of an add-on on a managed cluster.
type State string

// The states of an add-on on a managed cluster.
const (
	// Failing means that a Required dependency fails.
	Failing State = "Failing"
	// Down means that the add-on is not available although no dependency fails.
	Down State = "Down"
	// Stale means that the conditions do not show the current verdicts yet.
	Stale State = "Stale"
	// Waiting means that the add-on is not installed yet, because its gate is closed.
	Waiting State = "Waiting"
	// Held means that the verdict on a dependency is held.
	Held State = "Held"
	// Unreported means that the agent has not reported yet.
	Unreported State = "Unreported"
	// Lost means that the managed cluster cannot be reached.
	Lost State = "Lost"
	// Leaving means that the add-on is being removed, or its managed cluster is being detached.
	Leaving State = "Leaving"
	// Limited means that the add-on is available, and an Optional dependency fails.
	Limited State = "Limited"
	// Working means that the add-on is available, and no dependency fails.
	Working State = "Working"
)

// States are all states, worst first.
var States = []State{Failing, Down, Stale, Waiting, Held, Unreported, Lost, Leaving, Limited, Working}

func (s State) rank() int { return slices.Index(States, s) }

// StateCount is a state with the number of add-ons that have it.
type StateCount struct {
	State State `json:"state"`
	Count int   `json:"count"`
}

// NodeState is the state of an add-on on some managed clusters.
type NodeState struct {
	// States has the numbers of clusters in each state, worst first.
	States []StateCount
	// Missing is the number of clusters where a Required dependency fails because the add-on is not installed.
	Missing int
}

// location is an add-on on a managed cluster.
type location struct{ cluster, addOn string }

// stateFinder finds the states of add-ons from the root causes of the fleet, so that a page shows the same failures as kubectl addon why.
type stateFinder struct {
	// listed are the states of the add-ons that the root causes list.
	listed map[location]State
	// causes has the numbers of the root causes of victims, and roots those of the root causes themselves.
	causes, roots map[location][]int
	// removing has the texts about add-ons that are being removed.
	removing map[location]string
}

func newStateFinder(causes *report.RootCauses) *stateFinder {
	f := &stateFinder{listed: map[location]State{}, causes: map[location][]int{}, roots: rootsOf(causes), removing: map[location]string{}}
	for i := range causes.Items {
		for _, victim := range causes.Items[i].Victims {
			key := location{victim.Cluster, victim.AddOn}
			f.listed[key], f.causes[key] = Failing, append(f.causes[key], i+1)
		}
	}
	for _, list := range []struct {
		state  State
		addOns []report.Failing
	}{
		{Down, causes.FailingThemselves}, {Stale, causes.Outdated}, {Held, causes.LastKnown}, {Held, causes.Undecided}, {Waiting, causes.Gated},
	} {
		for _, failing := range list.addOns {
			key := location{failing.Cluster, failing.AddOn}
			f.listed[key] = cmp.Or(f.listed[key], list.state)
		}
	}
	for i := range causes.Removing {
		key := location{causes.Removing[i].Cluster, causes.Removing[i].AddOn}
		f.listed[key], f.removing[key] = Leaving, causes.Removing[i].String()
	}
	return f
}

// isOf reports whether an add-on is a victim of the root cause with that number, or that cause itself.
func (f *stateFinder) isOf(key location, number int) bool {
	return slices.Contains(f.causes[key], number) || slices.Contains(f.roots[key], number)
}

// stateOf returns the state of an add-on on a managed cluster. limited reports whether an Optional dependency of it fails.
func (f *stateFinder) stateOf(cluster Cluster, addOn *addonv1alpha1.ManagedClusterAddOn, limited func() bool) State {
	listed, available := f.listed[location{addOn.Namespace, addOn.Name}], fleet.Available(addOn)
	switch {
	case cluster.Detached || listed == Leaving || addOn.DeletionTimestamp != nil:
		return Leaving
	case cluster.Lost:
		return Lost
	case fleet.GateClosed(addOn):
		return Waiting
	case listed != "":
		return listed
	case available == nil:
		return Unreported
	case available.Status != metav1.ConditionTrue: // It is a root cause, which the lists leave out.
		return Down
	case limited():
		return Limited
	default:
		return Working
	}
}
