package report

import (
	"cmp"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/condition/whatif"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
)

// Impact has the edges of a fleet that a change would affect.
type Impact struct {
	metav1.TypeMeta `json:",inline"`
	// Taken is when the hub was read.
	Taken time.Time `json:"taken"`
	Reach `json:",inline"`
	// Placement limits the change to the managed clusters that it selects. Without it, the change is tried on all.
	Placement *Selection `json:"placement,omitempty"`
	// Installed are add-ons to install, with the managed clusters that have them already.
	Installed []InstalledAddOn `json:"installed,omitempty"`
	// Items are the edges whose verdict would change. Edges that would break come first.
	Items []Affected `json:"items"`
}

// Selection is the set of managed clusters that a Placement selects.
type Selection struct {
	Namespace string   `json:"namespace,omitempty"`
	Name      string   `json:"name"`
	Clusters  []string `json:"clusters"`
	// Total is the number of managed clusters among which the Placement selects.
	Total int `json:"of"`
	// Notes explain an empty selection, and predicates that cannot be decided without the hub.
	Notes []string `json:"notes,omitempty"`
}

// InstalledAddOn is an add-on to install that some managed clusters have already. It does not change there.
type InstalledAddOn struct {
	AddOn    string   `json:"addOn"`
	Clusters []string `json:"clusters"`
}

// Affected is an edge whose verdict would change, with the managed clusters where it would.
type Affected struct {
	AddOn string `json:"addOn"`
	// Edge is the name of the dependency, or of the requirement.
	Edge string                       `json:"edge"`
	Type addonv1alpha1.DependencyType `json:"type"`
	// TypeBefore is empty if the change keeps the type.
	TypeBefore addonv1alpha1.DependencyType `json:"typeBefore,omitempty"`
	// VerdictBefore is empty if the edge is not declared yet.
	VerdictBefore evaluation.Verdict `json:"before,omitempty"`
	VerdictAfter  evaluation.Verdict `json:"after"`
	// Breaks is whether the edge would become unsatisfied, or would become Required while it is unsatisfied.
	Breaks bool `json:"breaks"`
	// Message describes the edge after the change, on the first of the clusters.
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
	// Registrations, Policies and Templates replace objects of the same name on the hub, or are new.
	Registrations []addonv1alpha1.ClusterManagementAddOn
	Policies      []dependencyv1alpha1.AddOnDependencyPolicy
	Templates     []addonv1alpha1.AddOnTemplate
	// Placement limits the change to the managed clusters that it selects. Without it, the change affects all.
	Placement *Selection
}

// covers reports whether the change is tried on a managed cluster.
func (t Trial) covers(cluster string) bool {
	return t.Placement == nil || slices.Contains(t.Placement.Clusters, cluster)
}

// evaluator returns the evaluator of the declarations after the change.
func (t Trial) evaluator(content snapshot.Content) *evaluation.Evaluator {
	registrations := slices.DeleteFunc(slices.Clone(content.Registrations), func(addOn addonv1alpha1.ClusterManagementAddOn) bool {
		return slices.ContainsFunc(t.Registrations, func(changed addonv1alpha1.ClusterManagementAddOn) bool { return changed.Name == addOn.Name })
	})
	content.Policies = slices.DeleteFunc(slices.Clone(content.Policies), func(policy dependencyv1alpha1.AddOnDependencyPolicy) bool {
		return slices.ContainsFunc(t.Policies, func(changed dependencyv1alpha1.AddOnDependencyPolicy) bool { return changed.Name == policy.Name })
	})
	content.Policies = append(content.Policies, t.Policies...)
	content.Templates = snapshot.Replaced(content.Templates, t.Templates)
	return content.Evaluator(append(registrations, t.Registrations...))
}

// FindImpact evaluates all managed clusters, or one, as they are and as they would be.
func FindImpact(hub *snapshot.Snapshot, cluster string, trial Trial) *Impact {
	impact := &Impact{
		TypeMeta: metav1.TypeMeta{APIVersion: APIVersion, Kind: "Impact"}, Taken: hub.Taken, Placement: trial.Placement, Items: []Affected{},
	}
	current, changed := whatif.New(hub.Declared), whatif.New(trial.evaluator(hub.Content))
	for _, name := range hub.Names() {
		if cmp.Or(cluster, name) != name || !trial.covers(name) {
			continue
		}
		if !impact.count(hub, name) {
			continue
		}
		whole := hub.Whole(name)
		impact.addInstalled(trial.Install, whole.AddOns, name)
		for _, difference := range whatif.Compare(current.Findings(whole), changed.Findings(trial.Apply(whole))) {
			impact.add(difference, name)
		}
	}
	slices.SortStableFunc(impact.Items, func(a, b Affected) int {
		switch {
		case a.Breaks != b.Breaks && a.Breaks:
			return -1
		case a.Breaks != b.Breaks:
			return 1
		default:
			return cmp.Or(-cmp.Compare(len(a.Clusters), len(b.Clusters)), cmp.Compare(a.AddOn, b.AddOn), cmp.Compare(a.Edge, b.Edge))
		}
	})
	return impact
}

// addInstalled records that a cluster already has some of the add-ons to install.
func (i *Impact) addInstalled(install []string, observations map[string]evaluation.Observation, cluster string) {
	for _, addOn := range install {
		if !observations[addOn].Installed {
			continue
		}
		index := slices.IndexFunc(i.Installed, func(entry InstalledAddOn) bool { return entry.AddOn == addOn })
		if index < 0 {
			index = len(i.Installed)
			i.Installed = append(i.Installed, InstalledAddOn{AddOn: addOn})
		}
		i.Installed[index].Clusters = append(i.Installed[index].Clusters, cluster)
	}
}

// add adds a difference on one cluster. It shares the entry of clusters with the same difference.
func (i *Impact) add(difference whatif.Difference, cluster string) {
	finding := difference.After
	affected := Affected{
		AddOn: difference.AddOn, Edge: finding.Name(), Type: finding.Type(), VerdictAfter: finding.Verdict, Breaks: difference.Breaks(),
	}
	if difference.Before != nil {
		affected.VerdictBefore = difference.Before.Verdict
		if typeBefore := difference.Before.Type(); typeBefore != affected.Type {
			affected.TypeBefore = typeBefore
		}
	}
	index := slices.IndexFunc(i.Items, affected.matches)
	if index < 0 {
		if finding.Unsatisfied() {
			affected.Message = finding.Sentence(finding.AuthorMessage())
		}
		index = len(i.Items)
		i.Items = append(i.Items, affected)
	}
	i.Items[index].Clusters = append(i.Items[index].Clusters, cluster)
}

// matches reports whether two edges differ in clusters and message only.
func (a Affected) matches(b Affected) bool {
	return a.AddOn == b.AddOn && a.Edge == b.Edge && a.VerdictBefore == b.VerdictBefore && a.VerdictAfter == b.VerdictAfter &&
		a.Type == b.Type && a.TypeBefore == b.TypeBefore
}
