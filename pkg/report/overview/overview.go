// Package overview aggregates the state of a fleet for pages: its root causes, a matrix of add-ons and groups of managed clusters, the graph,
// and the managed clusters where an add-on does not work. It has no client and no clock. All texts are safe to show: they are on a single
// line, bounded, and have no character that changes their direction.
package overview

import (
	"time"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/report"
)

// Overview is the state of a fleet.
type Overview struct {
	// Hub is the address of the hub, or the name of the file that was read.
	Hub string `json:"hub,omitempty"`
	// Selection describes the selected managed clusters. It is empty for the whole fleet.
	Selection string `json:"selection,omitempty"`
	// Headline says in a sentence how many add-ons fail, and why most of them do. Scope describes the managed clusters.
	Headline string `json:"headline"`
	Scope    string `json:"scope"`
	// Taken is when the hub was read.
	Taken        time.Time `json:"taken"`
	report.Reach `json:"reach"`
	// Fixed is whether the fleet was read from a file, which does not change.
	Fixed bool `json:"fixed,omitempty"`
	// Detached is the number of managed clusters that are being detached. Reach does not count them.
	Detached int `json:"detached,omitempty"`
	// Dependents is the number of add-ons that are installed on clusters that can be reached, and declare dependencies or requirements.
	Dependents int `json:"dependents"`
	// AddOns are the add-ons on managed clusters, by state. All states are there.
	AddOns []StateCount `json:"addOns"`
	// Notices are reasons why the overview is not complete or not current.
	Notices []Notice `json:"notices,omitempty"`
	// Causes are the root causes. A cause that breaks more comes before others.
	Causes []Cause `json:"causes"`
	// Unavailable are the other add-ons that are not available. No Required dependency fails because of them. Their entries have no number.
	Unavailable []Cause `json:"unavailable,omitempty"`
	// Unreachable describes the managed clusters that cannot be reached. It is nil if there are none.
	Unreachable *Unreachable `json:"unreachable,omitempty"`
	Matrix      Matrix       `json:"matrix"`
	// Graph has the dependencies of all add-ons.
	Graph *report.Graph `json:"graph"`
	// NodeStates has the states of the add-ons of the graph.
	NodeStates map[string]NodeState `json:"-"`
	// Clusters are the managed clusters where an add-on does not work, or where that is not known. The worst come first.
	Clusters []Cluster `json:"clusters"`
	// Grid has the state of each add-on on each managed cluster, for an interactive page.
	Grid *Grid `json:"grid,omitempty"`
	// Unusable are declarations that cannot be used, so their dependencies are not known.
	Unusable []report.Unusable `json:"unusable,omitempty"`
	LeftOut  LeftOut           `json:"leftOut,omitzero"`
}

// LeftOut has the numbers of entries that have no room.
type LeftOut struct {
	Causes      int32 `json:"causes,omitempty"`
	Unavailable int32 `json:"unavailable,omitempty"`
	AddOns      int32 `json:"addOns,omitempty"`
	Clusters    int32 `json:"clusters,omitempty"`
}

// Notice is a reason why an overview is not complete or not current.
type Notice struct {
	Text string `json:"text"`
	// Run is the command that shows more. It may be empty.
	Run string `json:"run,omitempty"`
	// Urgent is whether the whole overview may be wrong, because its data is old, or its commands may reach another hub.
	Urgent bool `json:"urgent,omitempty"`
}

// Cause is a root cause.
type Cause struct {
	// Number is the place of the cause in the order, from 1.
	Number int    `json:"number,omitempty"`
	Title  string `json:"title"`
	// Message has details that the title lacks. It may be empty.
	Message string `json:"message,omitempty"`
	// Clusters and AddOns are the numbers of affected managed clusters, and of affected add-ons on them.
	Clusters int `json:"clusters"`
	AddOns   int `json:"addOns"`
	// Victims are the affected add-ons with their numbers of managed clusters, largest first.
	Victims []Victim `json:"victims"`
	// OtherVictims is the number of add-ons that Victims leaves out.
	OtherVictims int `json:"otherVictims,omitempty"`
	// Since is when the dependency itself became unavailable, and Place where it did first. EffectsSince is when the first victim became
	// Degraded. It is zero if that was at once. Each is zero if it is not known.
	Since        time.Time `json:"since,omitzero"`
	Place        string    `json:"place,omitempty"`
	EffectsSince time.Time `json:"effectsSince,omitzero"`
	EffectsPlace string    `json:"effectsPlace,omitempty"`
	// Shared are traits of the affected clusters that most of the Others, the other clusters with the same add-ons, do not have.
	Shared []Trait `json:"shared,omitempty"`
	Others int     `json:"others"`
	// Ranges, Repair and Installation describe failing ranges, what the obvious repair would break, and the AddOnInstallation.
	Ranges       string `json:"ranges,omitempty"`
	Repair       string `json:"repair,omitempty"`
	Installation string `json:"installation,omitempty"`
	// Note explains the next step. Run has its commands. Both may be empty. Effect says whether the commands only read, or change something.
	Note   string   `json:"note,omitempty"`
	Run    []string `json:"run,omitempty"`
	Effect string   `json:"effect,omitempty"`
	// ClusterNames has the first affected managed clusters.
	ClusterNames Names `json:"clusterNames"`
}

// Victim is an add-on with the number of managed clusters where a cause breaks it.
type Victim struct {
	AddOn    string `json:"addOn"`
	Clusters int    `json:"clusters"`
}

// Trait is a trait that affected managed clusters share.
type Trait struct {
	Name     string `json:"name"`
	Value    string `json:"value"`
	Affected int    `json:"affected"`
	Others   int    `json:"others"`
}

// Names are the first names of a list, and the number of the others.
type Names struct {
	Names   []string `json:"names"`
	LeftOut int      `json:"leftOut,omitempty"`
}

// Matrix has a row for each add-on, and a column for each group of managed clusters.
type Matrix struct {
	// GroupBy is the label whose values are the groups.
	GroupBy string  `json:"groupBy"`
	Groups  []Group `json:"groups"`
	// Rows are ordered by the number of add-ons that do not work, largest first.
	Rows []Row `json:"rows"`
}

// Group has the managed clusters with the same value of a label.
type Group struct {
	// Name is the value of the label. It is empty for clusters without the label.
	Name string `json:"name"`
	// Merged is the number of values that have no column of their own, if this is their column.
	Merged   int `json:"merged,omitempty"`
	Clusters int `json:"clusters"`
	Lost     int `json:"lost,omitempty"`
}

// Row is the state of an add-on in the whole fleet, and in each group.
type Row struct {
	AddOn string `json:"addOn"`
	Fleet Cell   `json:"fleet"`
	Cells []Cell `json:"cells"`
}

// Cell is the state of an add-on on a group of managed clusters.
type Cell struct {
	// Installed is the number of managed clusters of the group that have the add-on.
	Installed int `json:"installed"`
	// States are the states that occur, worst first.
	States []CellState `json:"states,omitempty"`
}

// CellState is a state of an add-on, with the managed clusters where it has the state.
type CellState struct {
	State State `json:"state"`
	Count int   `json:"count"`
	// ClusterNames has the first of the clusters. It has no names where the add-on works.
	ClusterNames Names `json:"clusterNames,omitzero"`
}

// Cluster is a managed cluster with its add-ons.
type Cluster struct {
	Name     string `json:"name"`
	Group    string `json:"group,omitempty"`
	Lost     bool   `json:"lost,omitempty"`
	Detached bool   `json:"detached,omitempty"`
	// Notice explains why the state of the cluster is not current. Run is a command about the cluster. Both may be empty.
	Notice string `json:"notice,omitempty"`
	Run    string `json:"run,omitempty"`
	// Caption describes the list of add-ons.
	Caption string `json:"caption"`
	// AddOns are ordered by state, worst first. Without an interactive page, those that work are left out. Working is the number of these.
	AddOns  []AddOn `json:"addOns"`
	Working int     `json:"working"`
	// LeftOut is the number of add-ons that AddOns leaves out.
	LeftOut int32 `json:"leftOut,omitempty"`
}

// AddOn is an add-on on a managed cluster.
type AddOn struct {
	Name  string `json:"name"`
	State State  `json:"state"`
	// Explanation explains the state, as far as the rest does not.
	Explanation string      `json:"explanation,omitempty"`
	Conditions  []Condition `json:"conditions,omitempty"`
	// Edges are the dependencies that fail or are held.
	Edges []Edge `json:"edges,omitempty"`
	// Causes are the numbers of its root causes, and of the root cause that it is itself.
	Causes []int `json:"causes,omitempty"`
	// Run is the command that shows more. It may be empty.
	Run string `json:"run,omitempty"`
}

// Condition is a stored condition of an add-on.
type Condition struct {
	Type    string    `json:"type"`
	Status  string    `json:"status"`
	Reason  string    `json:"reason,omitempty"`
	Message string    `json:"message,omitempty"`
	Since   time.Time `json:"since,omitzero"`
}

// Edge is a dependency or a requirement of an add-on.
type Edge struct {
	Name    string                       `json:"name"`
	Type    addonv1alpha1.DependencyType `json:"type"`
	Wanted  string                       `json:"wanted,omitempty"`
	Found   string                       `json:"found,omitempty"`
	Verdict evaluation.Verdict           `json:"verdict"`
	Since   time.Time                    `json:"since,omitzero"`
}
