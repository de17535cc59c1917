package overview

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/report"
	"open-cluster-management.io/interlock/pkg/report/nextstep"
	"open-cluster-management.io/interlock/pkg/text"
)

// maxAddOns is the largest number of add-ons of a managed cluster.
const maxAddOns = 50

// shownConditions are the types of conditions that an overview has.
var shownConditions = []string{"Degraded", "Available", "Installable", "Upgradable"}

// located is a managed cluster of the fleet with the states of its add-ons.
type located struct {
	Cluster

	name, group string
	// states are ordered by the names of the add-ons.
	states []addOnState
	counts map[State]int
}

// addOnState is the state of an add-on.
type addOnState struct {
	addOn string
	state State
}

// addClusters adds the clusters, and counts the states of their add-ons.
func (f *Finder) addClusters(o *Overview) {
	counts, matrix := map[State]int{}, newMatrix(f.options.GroupBy)
	var affected []located
	for _, cluster := range f.clusters {
		matrix.add(cluster)
		for state, count := range cluster.counts {
			counts[state] += count
		}
		if cluster.counts[Working] < len(cluster.states) {
			affected = append(affected, cluster)
		}
	}
	for _, state := range States {
		o.AddOns = append(o.AddOns, StateCount{State: state, Count: counts[state]})
	}
	o.Matrix, o.LeftOut.AddOns = matrix.result()
	o.NodeStates = f.NodeStates("", "")
	o.setHeadline(f.clusters, f.states, f.causes)
	if f.options.Interactive {
		o.Grid = newGrid(f.clusters)
		return
	}
	slices.SortStableFunc(affected, compareAffected)
	shown := affected[:min(len(affected), maxClusters)]
	for i := range shown {
		o.Clusters = append(o.Clusters, shown[i].describe(f.hub, f.states, f.options.Command, false))
	}
	capacity := clusterBytes
	o.LeftOut.Clusters = int32(len(affected) - len(shown)) //nolint:gosec // bounded by memory
	o.Clusters = report.Fit(o.Clusters, maxClusters, &capacity, &o.LeftOut.Clusters)
}

// Unlabeled is the group of managed clusters without the label, in the queries of pages. No value of a label begins with it.
const Unlabeled = "-"

// NodeStates returns the states of add-ons. A cluster or a group limits them to its managed clusters, by their shown names.
func (f *Finder) NodeStates(cluster, group string) map[string]NodeState {
	counts, counted := map[string]map[State]int{}, map[string]bool{}
	for i := range f.clusters {
		each := &f.clusters[i]
		if cmp.Or(cluster, each.Name) != each.Name || group != "" && cmp.Or(each.Group, Unlabeled) != group {
			continue
		}
		counted[each.name] = true
		for _, each := range each.states {
			if counts[each.addOn] == nil {
				counts[each.addOn] = map[State]int{}
			}
			counts[each.addOn][each.state]++
		}
	}
	nodes := f.missing(counted)
	for addOn := range counts {
		node := nodes[addOn]
		for _, state := range States {
			if count := counts[addOn][state]; count > 0 {
				node.States = append(node.States, StateCount{State: state, Count: count})
			}
		}
		nodes[addOn] = node
	}
	return nodes
}

// missing returns the nodes of add-ons that are root causes because they are not installed on these managed clusters.
func (f *Finder) missing(counted map[string]bool) map[string]NodeState {
	nodes := map[string]NodeState{}
	for i := range f.causes.Items {
		item := &f.causes.Items[i]
		if item.Verdict != evaluation.NotInstalled || item.AddOn == "" {
			continue
		}
		node := nodes[item.AddOn]
		for _, cluster := range item.Clusters() {
			if counted[cluster] {
				node.Missing++
			}
		}
		if node.Missing > 0 {
			nodes[item.AddOn] = node
		}
	}
	return nodes
}

// Cluster returns the details of a managed cluster, by the name that the overview has. The bool is false if the fleet does not have it.
func (f *Finder) Cluster(name string) (Cluster, bool) {
	index := slices.IndexFunc(f.clusters, func(candidate located) bool { return candidate.Name == name })
	if index < 0 {
		return Cluster{}, false
	}
	return f.clusters[index].describe(f.hub, f.states, f.options.Command, true), true
}

// locate returns a managed cluster with the states of its add-ons.
func locate(hub *snapshot.Snapshot, states *stateFinder, name, groupBy string) located {
	cluster := located{
		Cluster: Cluster{Name: text.Name(name), Lost: hub.Lost(name)}, name: name, counts: map[State]int{},
	}
	if object := hub.Object(name); object != nil {
		cluster.group, cluster.Detached = object.Labels[groupBy], object.DeletionTimestamp != nil
		cluster.Group = text.Name(cluster.group)
	}
	var findings func(addOn string) []evaluation.Finding
	installed := hub.Installed(name)
	cluster.states = make([]addOnState, 0, len(installed))
	for _, addOn := range installed {
		state := states.stateOf(cluster.Cluster, addOn, func() bool {
			if findings == nil {
				findings = hub.Evaluated(name)
			}
			return slices.ContainsFunc(findings(addOn.Name), evaluation.Finding.Unsatisfied)
		})
		cluster.states = append(cluster.states, addOnState{addOn.Name, state})
		cluster.counts[state]++
	}
	return cluster
}

// compareAffected orders managed clusters by the number of add-ons in each state, worst state first.
func compareAffected(a, b located) int {
	for _, state := range States[:len(States)-1] {
		if order := cmp.Compare(b.counts[state], a.counts[state]); order != 0 {
			return order
		}
	}
	return cmp.Compare(a.name, b.name)
}

// describe returns the cluster with its add-ons, and their edges. All edges of a lost cluster are held. Without all, add-ons that work are
// left out.
func (l located) describe(hub *snapshot.Snapshot, states *stateFinder, command func(string) string, all bool) Cluster {
	var edges map[string][]Edge
	if !l.Lost && !l.Detached {
		edges = edgesOf(hub, l.name)
	}
	l.Working = l.counts[Working]
	for i, addOn := range hub.Installed(l.name) {
		state, key, name := l.states[i].state, location{l.name, addOn.Name}, text.Name(addOn.Name)
		if state == Working && !all {
			continue
		}
		l.AddOns = append(l.AddOns, AddOn{
			Name: name, State: state, Conditions: conditionsOf(addOn), Edges: edges[name],
			Explanation: states.explain(state, addOn, edges[name]),
			Causes:      slices.Concat(states.causes[key], states.roots[key]), Run: command(nextCommand(state, addOn, edges[name])),
		})
	}
	slices.SortStableFunc(l.AddOns, func(a, b AddOn) int { return cmp.Compare(a.State.rank(), b.State.rank()) })
	if left := len(l.AddOns) - maxAddOns; left > 0 {
		l.AddOns, l.LeftOut = l.AddOns[:maxAddOns], int32(left) //nolint:gosec // bounded by memory
	}
	l.setCaption(hub.Object(l.name), command)
	return l.Cluster
}

// setCaption sets the caption, and the notice of a cluster whose state is not current.
func (l *located) setCaption(object *clusterv1.ManagedCluster, command func(string) string) {
	l.Caption = fmt.Sprintf("Add-ons on %s: %d of %d work.", l.Name, l.Working, len(l.states))
	if l.LeftOut > 0 {
		l.Caption += fmt.Sprintf(" %d more have no room here.", l.LeftOut)
	}
	switch {
	case l.Detached:
		l.Notice = l.Name + " will be detached from the hub, and its add-ons are removed with it."
	case l.Lost:
		l.Notice = "The hub has not heard from " + l.Name
		if since := report.LostSince(object); !since.IsZero() {
			l.Notice += " since " + since.Format("2006-01-02 15:04:05 MST")
		}
		l.Notice += ". Everything below is the last known state."
		l.Caption = "Add-ons on " + l.Name + ", as last known."
	default:
		return
	}
	if len(validation.IsDNS1123Subdomain(l.name)) == 0 {
		l.Run = command(describeCluster + l.name)
	}
}

// nextCommand returns the command that shows more of an add-on. It is empty without one, for invalid names, because a shell could run them,
// and where the command about the managed cluster shows more.
func nextCommand(state State, addOn *addonv1alpha1.ManagedClusterAddOn, edges []Edge) string {
	switch {
	case len(validation.IsDNS1123Subdomain(addOn.Name))+len(validation.IsDNS1123Subdomain(addOn.Namespace)) > 0:
		return ""
	case state == Stale || state == Waiting && !slices.ContainsFunc(edges, isAwaited):
		return nextstep.Doctor
	case state == Lost || state == Working:
		return ""
	case state == Failing || state == Waiting || state == Held:
		return fmt.Sprintf("kubectl addon why %s -n %s", addOn.Name, addOn.Namespace)
	default:
		return fmt.Sprintf("kubectl describe managedclusteraddon %s -n %s", addOn.Name, addOn.Namespace)
	}
}

// edgesOf returns the edges on a managed cluster that fail, are held, or may fail at a known time, by the names of the add-ons.
func edgesOf(hub *snapshot.Snapshot, cluster string) map[string][]Edge {
	edges := map[string][]Edge{}
	evaluated := report.EvaluateCluster(hub.Evaluation(), hub.Whole(cluster)).Report(dependencyv1alpha1.ReportAll, nil)
	if evaluated == nil {
		return edges
	}
	for i := range evaluated.Edges {
		entry := &evaluated.Edges[i]
		verdict := evaluation.Verdict(entry.Verdict)
		if verdict == evaluation.Satisfied || verdict == evaluation.NotApplicable {
			continue
		}
		edge := Edge{
			Name: safeText(entry.Dependency), Type: addonv1alpha1.DependencyType(entry.Type), Wanted: safeText(entry.Wanted),
			Found: shownTimes(safeText(entry.Found)), Verdict: verdict,
		}
		if entry.Since != nil {
			edge.Since = entry.Since.UTC()
		}
		name := text.Name(entry.AddOn)
		edges[name] = append(edges[name], edge)
	}
	return edges
}

// conditionsOf returns the conditions of an add-on that an overview has. A message that another condition has too is there once.
func conditionsOf(addOn *addonv1alpha1.ManagedClusterAddOn) []Condition {
	var conditions []Condition
	for _, kind := range shownConditions {
		index := slices.IndexFunc(addOn.Status.Conditions, func(condition metav1.Condition) bool { return condition.Type == kind })
		if index < 0 {
			continue
		}
		stored := &addOn.Status.Conditions[index]
		condition := Condition{
			Type: kind, Status: string(stored.Status), Reason: text.Name(stored.Reason), Message: safeText(stored.Message),
			Since: timeOf(stored.LastTransitionTime),
		}
		if slices.ContainsFunc(conditions, func(other Condition) bool { return other.Message == condition.Message }) {
			condition.Message = ""
		}
		conditions = append(conditions, condition)
	}
	return conditions
}

func timeOf(changed metav1.Time) time.Time {
	if changed.IsZero() {
		return time.Time{}
	}
	return changed.UTC()
}
