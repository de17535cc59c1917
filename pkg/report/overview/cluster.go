package overview

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

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
	states      map[string]State
	counts      map[State]int
}

// addClusters adds the clusters, and counts the states of their add-ons.
func (o *Overview) addClusters(hub *snapshot.Snapshot, states *stateFinder, options Options) {
	counts, matrix := map[State]int{}, newMatrix(options.GroupBy)
	var all, affected []located
	for _, name := range hub.Names() {
		if cmp.Or(options.Cluster, name) != name {
			continue
		}
		cluster := locate(hub, states, name, options.GroupBy)
		matrix.add(cluster)
		all = append(all, cluster)
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
	if options.Interactive {
		o.Grid = newGrid(all)
		return
	}
	slices.SortStableFunc(affected, compareAffected)
	shown := affected[:min(len(affected), maxClusters)]
	for i := range shown {
		o.Clusters = append(o.Clusters, shown[i].describe(hub, states, options.Command))
	}
	capacity := clusterBytes
	o.LeftOut.Clusters = int32(len(affected) - len(shown)) //nolint:gosec // bounded by memory
	o.Clusters = report.Fit(o.Clusters, maxClusters, &capacity, &o.LeftOut.Clusters)
}

// Cluster returns the details of a managed cluster, by the name that the overview has. The bool is false if the fleet does not have it.
func (f *Finder) Cluster(name string) (Cluster, bool) {
	names := f.hub.Names()
	index := slices.IndexFunc(names, func(candidate string) bool { return text.Name(candidate) == name })
	if index < 0 {
		return Cluster{}, false
	}
	return locate(f.hub, f.states, names[index], f.options.GroupBy).describe(f.hub, f.states, f.options.Command), true
}

// locate returns a managed cluster with the states of its add-ons.
func locate(hub *snapshot.Snapshot, states *stateFinder, name, groupBy string) located {
	cluster := located{
		Cluster: Cluster{Name: text.Name(name), Lost: hub.Lost(name)}, name: name, states: map[string]State{}, counts: map[State]int{},
	}
	if object := hub.Object(name); object != nil {
		cluster.group, cluster.Detached = object.Labels[groupBy], object.DeletionTimestamp != nil
		cluster.Group = text.Name(cluster.group)
	}
	var findings func(addOn string) []evaluation.Finding
	for _, addOn := range hub.Installed(name) {
		state := states.stateOf(cluster.Cluster, addOn, func() bool {
			if findings == nil {
				findings = hub.Evaluated(name)
			}
			return slices.ContainsFunc(findings(addOn.Name), evaluation.Finding.Unsatisfied)
		})
		cluster.states[addOn.Name] = state
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

// describe returns the cluster with the add-ons that do not work, and their edges. All edges of a lost cluster are held.
func (l located) describe(hub *snapshot.Snapshot, states *stateFinder, command func(string) string) Cluster {
	var edges map[string][]Edge
	if !l.Lost && !l.Detached {
		edges = edgesOf(hub, l.name)
	}
	for _, addOn := range hub.Installed(l.name) {
		state := l.states[addOn.Name]
		if state == Working {
			l.Working++
			continue
		}
		l.AddOns = append(l.AddOns, AddOn{
			Name: text.Name(addOn.Name), State: state, Conditions: conditionsOf(addOn), Edges: edges[text.Name(addOn.Name)],
			Causes: states.causes[location{l.name, addOn.Name}], Run: command(nextCommand(state, addOn)),
		})
	}
	slices.SortStableFunc(l.AddOns, func(a, b AddOn) int { return cmp.Compare(a.State.rank(), b.State.rank()) })
	if left := len(l.AddOns) - maxAddOns; left > 0 {
		l.AddOns, l.LeftOut = l.AddOns[:maxAddOns], int32(left) //nolint:gosec // bounded by memory
	}
	return l.Cluster
}

// nextCommand returns the command that shows more of an add-on. It is empty without one, and for invalid names,
// because a shell could run them.
func nextCommand(state State, addOn *addonv1alpha1.ManagedClusterAddOn) string {
	switch {
	case len(validation.IsDNS1123Subdomain(addOn.Name))+len(validation.IsDNS1123Subdomain(addOn.Namespace)) > 0:
		return ""
	case state == Stale:
		return nextstep.Doctor
	case state == Lost:
		return "kubectl describe managedcluster " + addOn.Namespace
	case state == Failing:
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
			Found: safeText(entry.Found), Verdict: verdict,
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
