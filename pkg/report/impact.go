package report

import (
	"cmp"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/whatif"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
)

// Impact is what a change would do to the dependencies of a fleet.
type Impact struct {
	metav1.TypeMeta `json:",inline"`
	// Taken is when the hub was read.
	Taken time.Time `json:"taken"`
	Reach `json:",inline"`
	// Placement limits the change to the managed clusters that it selects; nil: it is tried on all.
	Placement *Placed `json:"placement,omitempty"`
	// Installed are add-ons to install, with the managed clusters that have them already.
	Installed []Installed `json:"installed,omitempty"`
	// Items are the edges whose verdict would be another one, those that would break first.
	Items []Affected `json:"items"`
}

// Placed is what a Placement selects.
type Placed struct {
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// Clusters are selected, out of Of.
	Clusters []string `json:"clusters"`
	Of       int      `json:"of"`
	// Notes are what cannot be decided without the hub, and why nothing is selected.
	Notes []string `json:"notes,omitempty"`
}

// Installed is an add-on that some managed clusters have already. There it stays as it is.
type Installed struct {
	AddOn    string   `json:"addOn"`
	Clusters []string `json:"clusters"`
}

// Affected is an edge whose verdict would be another one, with the managed clusters
// where it would.
type Affected struct {
	AddOn string `json:"addOn"`
	// Edge is the name of the dependency, or of the requirement.
	Edge string                       `json:"edge"`
	Type addonv1alpha1.DependencyType `json:"type"`
	// TypeBefore is empty where it stays.
	TypeBefore addonv1alpha1.DependencyType `json:"typeBefore,omitempty"`
	// Before is empty where the edge is not declared yet.
	Before evaluation.Verdict `json:"before,omitempty"`
	After  evaluation.Verdict `json:"after"`
	// Breaks: the edge would become unsatisfied, or keep the add-on from working.
	Breaks bool `json:"breaks"`
	// Message describes the edge as it would be, on the first of the clusters.
	Message  string   `json:"message,omitempty"`
	Clusters []string `json:"clusters"`
}

// Breaks reports whether any edge would become unsatisfied.
func (i *Impact) Breaks() bool {
	return slices.ContainsFunc(i.Items, func(affected Affected) bool { return affected.Breaks })
}

// Trial is a change of a fleet.
type Trial struct {
	whatif.Change
	// Registrations replace those of their names, or are new.
	Registrations []addonv1alpha1.ClusterManagementAddOn
	// Policies replace those of their names, or are new.
	Policies []dependencyv1alpha1.AddOnDependencyPolicy
	// Templates replace those of their names, or are new.
	Templates []addonv1alpha1.AddOnTemplate
	// Placement limits the change; nil: all managed clusters.
	Placement *Placed
}

// covers reports whether the change is tried on a managed cluster.
func (t Trial) covers(cluster string) bool {
	return t.Placement == nil || slices.Contains(t.Placement.Clusters, cluster)
}

// declared are the declarations as they would be.
func (t Trial) declared(now snapshot.Content) *evaluation.Evaluator {
	all := slices.DeleteFunc(slices.Clone(now.Registrations), func(addOn addonv1alpha1.ClusterManagementAddOn) bool {
		return slices.ContainsFunc(t.Registrations, func(other addonv1alpha1.ClusterManagementAddOn) bool { return other.Name == addOn.Name })
	})
	now.Policies = slices.DeleteFunc(slices.Clone(now.Policies), func(policy dependencyv1alpha1.AddOnDependencyPolicy) bool {
		return slices.ContainsFunc(t.Policies, func(other dependencyv1alpha1.AddOnDependencyPolicy) bool { return other.Name == policy.Name })
	})
	now.Policies = append(now.Policies, t.Policies...)
	now.Templates = snapshot.Replaced(now.Templates, t.Templates)
	return now.Evaluator(append(all, t.Registrations...))
}

// FindImpact evaluates all managed clusters, or one, as they are and as they would be.
func FindImpact(of *snapshot.Snapshot, cluster string, trial Trial) *Impact {
	found := &Impact{TypeMeta: metav1.TypeMeta{APIVersion: APIVersion, Kind: "Impact"}, Taken: of.Taken, Placement: trial.Placement, Items: []Affected{}}
	before, after := whatif.New(of.Declared), whatif.New(trial.declared(of.Content))
	for _, name := range of.Names() {
		if cmp.Or(cluster, name) != name || !trial.covers(name) {
			continue
		}
		if !found.count(of, name) {
			continue
		}
		whole := of.Whole(name)
		found.addInstalled(trial.Install, whole.AddOns, name)
		for _, difference := range whatif.Compare(before.Findings(whole), after.Findings(trial.Apply(whole))) {
			found.add(difference, name)
		}
	}
	slices.SortStableFunc(found.Items, func(a, b Affected) int {
		switch {
		case a.Breaks != b.Breaks && a.Breaks:
			return -1
		case a.Breaks != b.Breaks:
			return 1
		default:
			return cmp.Or(-cmp.Compare(len(a.Clusters), len(b.Clusters)), cmp.Compare(a.AddOn, b.AddOn), cmp.Compare(a.Edge, b.Edge))
		}
	})
	return found
}

// addInstalled adds a cluster to those that have an add-on to install already.
func (i *Impact) addInstalled(install []string, on map[string]evaluation.Observation, cluster string) {
	for _, addOn := range install {
		if !on[addOn].Installed {
			continue
		}
		same := slices.IndexFunc(i.Installed, func(other Installed) bool { return other.AddOn == addOn })
		if same < 0 {
			same = len(i.Installed)
			i.Installed = append(i.Installed, Installed{AddOn: addOn})
		}
		i.Installed[same].Clusters = append(i.Installed[same].Clusters, cluster)
	}
}

// add adds a difference on one cluster to those that are the same on others.
func (i *Impact) add(difference whatif.Difference, cluster string) {
	is := difference.After
	affected := Affected{AddOn: difference.AddOn, Edge: is.Name(), Type: is.Type(), After: is.Verdict, Breaks: difference.Breaks()}
	if difference.Before != nil {
		affected.Before = difference.Before.Verdict
		if was := difference.Before.Type(); was != affected.Type {
			affected.TypeBefore = was
		}
	}
	same := slices.IndexFunc(i.Items, affected.same)
	if same < 0 {
		if is.Unsatisfied() {
			affected.Message = is.Sentence(is.AuthorMessage())
		}
		same = len(i.Items)
		i.Items = append(i.Items, affected)
	}
	i.Items[same].Clusters = append(i.Items[same].Clusters, cluster)
}

// same reports whether another edge differs in clusters and message only.
func (a Affected) same(other Affected) bool {
	return a.AddOn == other.AddOn && a.Edge == other.Edge && a.Before == other.Before && a.After == other.After &&
		a.Type == other.Type && a.TypeBefore == other.TypeBefore
}
