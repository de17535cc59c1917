// Package whatif finds what a change would do to the verdicts on one managed cluster: a
// removal, another version, or another declaration.
package whatif

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/availability"
	"open-cluster-management.io/interlock/pkg/dependency/condition"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/graph"
	"open-cluster-management.io/interlock/pkg/dependency/versions"
)

// Cluster is all that is known of a managed cluster.
type Cluster struct {
	evaluation.Cluster
	// AddOns are those that are installed there, by their names.
	AddOns map[string]evaluation.Observation
}

// Change is a change to try. Empty fields change nothing.
type Change struct {
	// Remove are add-ons that would be uninstalled.
	Remove []string
	// Install are add-ons that would be installed, and available. One that is installed
	// already stays as it is.
	Install []string
	// Versions are those that add-ons would report, by their names.
	Versions map[string]string
	// Templates are the AddOnTemplates that add-ons would run, by their names.
	Templates map[string]string
	// RollOut are add-ons whose AddOnTemplate that is being rolled out would run.
	RollOut []string
	// Kubernetes is the version of the managed cluster, OCM that of the hub.
	Kubernetes, OCM string
}

// Difference is an edge or a requirement with another verdict, or with another type while it is not
// satisfied. A finding is nil where the edge is not declared.
type Difference struct {
	AddOn         string
	Before, After *evaluation.Finding
}

// Breaks reports whether the edge would become unsatisfied, or one that is not satisfied would become
// one without which the add-on cannot work.
func (d Difference) Breaks() bool {
	return d.After != nil && d.After.Unsatisfied() &&
		(d.Before == nil || !d.Before.Unsatisfied() || d.After.Blocks() && !d.Before.Blocks())
}

// Evaluation evaluates whole clusters with the same declarations.
type Evaluation struct {
	declared *evaluation.Evaluator
	order    [][]string
}

// New prepares the evaluation of clusters.
func New(declared *evaluation.Evaluator) *Evaluation {
	edges := map[string][]string{}
	for _, addOn := range declared.AddOns() {
		edges[addOn] = nil
		for _, need := range declared.Needs(addOn) {
			edges[addOn] = append(edges[addOn], need.Name)
		}
	}
	return &Evaluation{declared: declared, order: graph.New(edges).Order()}
}

// Apply returns the cluster after a change, before any condition has followed.
func (c Change) Apply(to Cluster) Cluster {
	addOns := maps.Clone(to.AddOns)
	if addOns == nil {
		addOns = map[string]evaluation.Observation{}
	}
	to.AddOns = addOns
	for _, name := range c.Remove {
		delete(to.AddOns, name)
	}
	for _, name := range c.Install {
		if _, installed := to.AddOns[name]; !installed {
			to.AddOns[name] = evaluation.Observation{Name: name, Installed: true, Available: &metav1.Condition{
				Type: addonv1alpha1.ManagedClusterAddOnConditionAvailable, Status: metav1.ConditionTrue, LastTransitionTime: metav1.NewTime(to.Now),
			}}
		}
	}
	c.applyVersions(&to)
	if c.Kubernetes != "" {
		to.KubernetesVersion = c.Kubernetes
	}
	if c.OCM != "" {
		to.OCMVersion, to.OCMUnread = c.OCM, false
	}
	return to
}

// applyVersions gives add-ons other versions and AddOnTemplates.
func (c Change) applyVersions(to *Cluster) {
	to.Facts.Versions = maps.Clone(to.Facts.Versions)
	for name, version := range c.Versions {
		observed, installed := to.AddOns[name]
		if !installed {
			continue
		}
		runs := observed.Template // which declaration counts is no matter of the version
		observed.Template = versions.Templates{Name: runs.Name, Next: runs.Next, Unknown: runs.Unknown && runs.Name == ""}
		observed.Version, observed.FormerVersion = version, ""
		to.AddOns[name] = observed
		if to.Facts.Versions == nil {
			to.Facts.Versions = map[string]evaluation.VersionFact{}
		}
		to.Facts.Versions[name] = evaluation.VersionFact{Version: version}
	}
	for name, template := range c.Templates {
		if observed, installed := to.AddOns[name]; installed {
			observed.Template = versions.Templates{Name: template}
			to.AddOns[name] = observed
		}
	}
	for _, name := range c.RollOut {
		if observed, installed := to.AddOns[name]; installed && observed.Template.Next != "" {
			observed.Template = versions.Templates{Name: observed.Template.Next, Running: observed.Template.RollingOut}
			to.AddOns[name] = observed
		}
	}
}

// Findings returns the verdicts on all edges of the installed add-ons, once every
// condition has followed: dependencies first, then their dependents.
func (e *Evaluation) Findings(on Cluster) map[string][]evaluation.Finding {
	addOns := maps.Clone(on.AddOns)
	observe := func(name string) evaluation.Observation { return addOns[name] }
	all := map[string][]evaluation.Finding{}
	for _, together := range e.order {
		// Add-ons that refer to each other are evaluated until no condition follows any more.
		// Only Required edges propagate, and none of them is on a cycle where it applies, so
		// that takes a pass for each add-on at most, and one that finds nothing.
		for passes, changed := 0, true; changed && passes <= len(together); passes++ {
			changed = false
			for _, name := range together {
				observed, installed := addOns[name]
				if !installed {
					continue
				}
				all[name] = e.declared.Evaluate(name, e.declared.State(name, on.Cluster, observe))
				addOns[name] = follow(observed, all[name], metav1.NewTime(on.Now))
				changed = changed || len(together) > 1 && availability.RequiredFails(observed.Degraded) != availability.RequiredFails(addOns[name].Degraded)
			}
		}
	}
	return all
}

// follow gives an add-on the conditions that addon-manager and its agent would write.
func follow(observed evaluation.Observation, findings []evaluation.Finding, now metav1.Time) evaluation.Observation {
	degraded := condition.Decide(condition.Stored{Degraded: observed.Degraded}, findings, now).Degraded
	if degraded == nil {
		return observed
	}
	failed := availability.RequiredFails(observed.Degraded)
	observed.Degraded = degraded
	available := observed.Available
	if failed && !availability.RequiredFails(degraded) && available != nil &&
		available.Reason == addonv1alpha1.AddonDegradedReasonRequiredDependencyNotSatisfied {
		observed.Available = &metav1.Condition{Type: available.Type, Status: metav1.ConditionTrue, LastTransitionTime: now}
	}
	return observed
}

// Compare returns the edges whose verdicts differ between two evaluations of a cluster,
// by add-on and in the order of declaration. An add-on that is no longer installed has
// no edges.
func Compare(before, after map[string][]evaluation.Finding) []Difference {
	var differences []Difference
	for _, addOn := range slices.Sorted(maps.Keys(after)) {
		was := map[string]*evaluation.Finding{}
		for i := range before[addOn] {
			was[before[addOn][i].Name()] = &before[addOn][i]
		}
		for i := range after[addOn] {
			is := &after[addOn][i]
			earlier := was[is.Name()]
			if earlier == nil || earlier.Verdict != is.Verdict || is.Unsatisfied() && earlier.Type() != is.Type() {
				differences = append(differences, Difference{AddOn: addOn, Before: earlier, After: is})
			}
		}
	}
	return differences
}
