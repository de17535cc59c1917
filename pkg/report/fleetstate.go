package report

import (
	"encoding/json"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"time"
	"unique"

	clusterv1 "open-cluster-management.io/api/cluster/v1"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation/cause"
)

// ClusterState is the state of a managed cluster in the report on the fleet. It is small, because a fleet has thousands: equal states
// of add-ons share their memory.
type ClusterState struct {
	name     string
	lost     bool
	detached bool
	// traits is a hash of the traits of the cluster.
	traits uint64
	addOns []timedState
}

// timedState is the state of an add-on on a managed cluster, with its times. They are zero if they are unknown.
type timedState struct {
	// state is an addOnState in JSON.
	state unique.Handle[string]
	// since is the time at which the add-on became Degraded, unavailable the time at which it became unavailable, and waits the time at which
	// its wait began, in seconds.
	since, unavailable, waits int64
}

// addOnState is the state of an add-on on a managed cluster without times.
type addOnState struct {
	AddOn string `json:"a"`
	// Removing is true if the add-on is being removed, so it does not count.
	Removing bool `json:"r,omitempty"`

	Edges []edgeState   `json:"e,omitempty"`
	Fails []failedState `json:"f,omitempty"`
	// Unexplained are the lists of unexplained add-ons that have it.
	Unexplained []dependencyv1alpha1.UnexplainedState `json:"u,omitempty"`
	Wait        *waitState                            `json:"w,omitempty"`
}

// edgeState is the verdict on an edge.
type edgeState struct {
	edgeKey

	Verdict evaluation.Verdict `json:"v"`
}

// failedState is a root cause of an add-on.
type failedState struct {
	Cause   cause.Cause `json:"c"`
	Stored  bool        `json:"d,omitempty"`
	Stopped bool        `json:"s,omitempty"`
	Unset   bool        `json:"u,omitempty"`
}

// waitState is a wait of an add-on for dependencies.
type waitState struct {
	waitKey

	Dependencies []string `json:"d,omitempty"`
}

// Name returns the name of the managed cluster.
func (s ClusterState) Name() string { return s.name }

// Equal reports whether two states of the same managed cluster are equal.
func (s ClusterState) Equal(otherState ClusterState) bool {
	return s.lost == otherState.lost && s.detached == otherState.detached && s.traits == otherState.traits && slices.Equal(s.addOns, otherState.addOns)
}

var traitSeed = maphash.MakeSeed()

// State returns the state of the managed cluster.
func (v View) State() (ClusterState, error) {
	state := ClusterState{name: v.Name, lost: v.lost(), detached: isDetached(v.Object)}
	traits, err := json.Marshal(traitsOf(v.Object)) // in the order of their names
	if err != nil {
		return state, fmt.Errorf("encode the traits of cluster %s: %w", v.Name, err)
	}
	state.traits = maphash.Bytes(traitSeed, traits)
	states, times := v.addOnStates()
	for i := range states {
		encoded, err := json.Marshal(states[i])
		if err != nil {
			return state, fmt.Errorf("encode the state of add-on %s on cluster %s: %w", states[i].AddOn, v.Name, err)
		}
		times[i].state = unique.Make(string(encoded))
	}
	state.addOns = times
	return state, nil
}

// addOnStates returns the states and times of the add-ons, in the order of their names.
func (v View) addOnStates() ([]addOnState, []timedState) {
	states, times := make([]addOnState, len(v.AddOns)), make([]timedState, len(v.AddOns))
	indexes := make(map[string]int, len(v.AddOns))
	for i, addOn := range v.AddOns {
		indexes[addOn.Name] = i
		states[i] = addOnState{AddOn: addOn.Name, Removing: addOn.DeletionTimestamp != nil}
		times[i].unavailable = seconds(unavailableSince(addOn))
		for _, finding := range v.findings[addOn.Name] {
			states[i].Edges = append(states[i].Edges, edgeState{edgeKey{finding.Name(), finding.Type()}, finding.Verdict})
		}
	}
	causes := v.causes()
	for i := range causes.Items {
		item := &causes.Items[i]
		for _, victim := range item.Victims {
			index := indexes[victim.AddOn]
			states[index].Fails = append(states[index].Fails, failedState{item.Cause, item.Stored, item.Stopped, item.Unset})
			times[index].since = seconds(victim.Since)
		}
	}
	for _, list := range causes.unexplained() {
		for _, failing := range list.addOns {
			index := indexes[failing.AddOn]
			states[index].Unexplained = append(states[index].Unexplained, list.state)
		}
	}
	for i, wait := range v.waits(nil) {
		index := indexes[v.Waiting[i].AddOn] // the other name may be cut
		states[index].Wait = &waitState{waitKey: waitKey{wait.Kind, wait.Template, wait.Version}}
		for _, edge := range wait.Dependencies {
			if edge.Dependency != "" {
				states[index].Wait.Dependencies = append(states[index].Wait.Dependencies, edge.Dependency)
			}
		}
		if wait.Since != nil {
			times[index].waits = seconds(wait.Since.Time)
		}
	}
	return states, times
}

// unexplainedList is a list of add-ons with the same state.
type unexplainedList struct {
	state  dependencyv1alpha1.UnexplainedState
	addOns []Failing
}

// unexplained returns the lists of add-ons that do not work although no dependency is known to fail.
func (r *RootCauses) unexplained() []unexplainedList {
	return []unexplainedList{
		{dependencyv1alpha1.Removing, r.removing()},
		{dependencyv1alpha1.Gated, r.Gated},
		{dependencyv1alpha1.Undecided, r.Undecided},
		{dependencyv1alpha1.Outdated, r.Outdated},
		{dependencyv1alpha1.LastKnown, r.LastKnown},
		{dependencyv1alpha1.FailingThemselves, r.FailingThemselves},
	}
}

// removing returns the add-ons that are being removed, and are no root cause.
func (r *RootCauses) removing() []Failing {
	var failing []Failing
	for i := range r.Removing {
		removal := &r.Removing[i]
		if !slices.ContainsFunc(r.Items, func(item RootCause) bool {
			return item.Removing && item.AddOn == removal.AddOn && slices.Contains(item.Clusters(), removal.Cluster)
		}) {
			failing = append(failing, Failing{Cluster: removal.Cluster, AddOn: removal.AddOn, Reason: removal.String()})
		}
	}
	return failing
}

// ExplainUnexplained returns the reason of an add-on with a state. It is empty if the add-on does not have that state.
func (v View) ExplainUnexplained(state dependencyv1alpha1.UnexplainedState, addOn string) string {
	for _, list := range v.causes().unexplained() {
		for _, failing := range list.addOns {
			if list.state == state && failing.AddOn == addOn {
				return failing.Reason
			}
		}
	}
	return ""
}

// SameTraits reports whether two states of a managed cluster have the same traits.
func SameTraits(a, b *clusterv1.ManagedCluster) bool { return maps.Equal(traitsOf(a), traitsOf(b)) }

func seconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix()
}

// timeOf returns the time of a number of seconds. It is zero for zero seconds.
func timeOf(seconds int64) time.Time {
	if seconds == 0 {
		return time.Time{}
	}
	return time.Unix(seconds, 0).UTC()
}
