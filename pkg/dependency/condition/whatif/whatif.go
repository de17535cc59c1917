// Package whatif predicts the verdicts on one managed cluster after a change: a removal, a new version, or a new declaration.
package whatif

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/availability"
	"open-cluster-management.io/interlock/pkg/dependency/condition"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/versions"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/graph"
)

// Cluster is a managed cluster with its installed add-ons.
type Cluster struct {
	evaluation.Cluster
	// AddOns has the installed add-ons by name.
	AddOns map[string]evaluation.Observation
}

// Change is a change to try. Empty fields change nothing.
type Change struct {
	// Remove has the add-ons to uninstall.
	Remove []string
	// Install has the add-ons to install. They become available. An installed add-on does not change.
	Install []string
	// Versions has the versions that add-ons report after the change, by add-on.
	Versions map[string]string
	// Templates has the AddOnTemplates that add-ons run after the change, by add-on.
	Templates map[string]string
	// RollOut has the add-ons whose rollout of an AddOnTemplate completes.
	RollOut []string
	// Kubernetes is the version of the managed cluster, and OCM the version on the hub.
	Kubernetes, OCM string
}

// Difference is an edge or a requirement whose verdict changes, or whose type changes while it is not satisfied. Before is nil for
// an edge that the change declares.
type Difference struct {
	AddOn         string
	Before, After *evaluation.Finding
}

// Breaks reports whether the edge becomes unsatisfied, or an unsatisfied edge starts to block the add-on.
func (d Difference) Breaks() bool {
	return d.After != nil && d.After.Unsatisfied() &&
		(d.Before == nil || !d.Before.Unsatisfied() || d.After.Blocks() && !d.Before.Blocks())
}

// Evaluation evaluates whole clusters with the same declarations.
type Evaluation struct {
	evaluator *evaluation.Evaluator
	// order has groups of add-ons that refer to each other, dependencies before dependents.
	order [][]string
}

// New prepares the evaluation of clusters.
func New(evaluator *evaluation.Evaluator) *Evaluation {
	edges := map[string][]string{}
	for _, addOn := range evaluator.AddOns() {
		edges[addOn] = nil
		for _, need := range evaluator.Needs(addOn) {
			edges[addOn] = append(edges[addOn], need.Name)
		}
	}
	return &Evaluation{evaluator: evaluator, order: graph.New(edges).Order()}
}

// Apply returns a copy of the cluster after the change. Conditions that depend on the change stay the same: Findings derives them.
func (c Change) Apply(cluster Cluster) Cluster {
	addOns := maps.Clone(cluster.AddOns)
	if addOns == nil {
		addOns = map[string]evaluation.Observation{}
	}
	cluster.AddOns = addOns
	for _, name := range c.Remove {
		delete(cluster.AddOns, name)
	}
	for _, name := range c.Install {
		if _, installed := cluster.AddOns[name]; !installed {
			cluster.AddOns[name] = evaluation.Observation{Name: name, Installed: true, Available: &metav1.Condition{
				Type:               addonv1alpha1.ManagedClusterAddOnConditionAvailable,
				Status:             metav1.ConditionTrue,
				LastTransitionTime: metav1.NewTime(cluster.Now),
			}}
		}
	}
	c.applyVersions(&cluster)
	if c.Kubernetes != "" {
		cluster.KubernetesVersion = c.Kubernetes
	}
	if c.OCM != "" {
		cluster.OCMVersion, cluster.OCMUnread = c.OCM, false
	}
	return cluster
}

// applyVersions changes the versions and AddOnTemplates of add-ons.
func (c Change) applyVersions(cluster *Cluster) {
	cluster.Facts.Versions = maps.Clone(cluster.Facts.Versions)
	for name, version := range c.Versions {
		observed, installed := cluster.AddOns[name]
		if !installed {
			continue
		}
		// The AddOnTemplate stays, because it decides which declaration applies. Only the versions that it reports are replaced.
		template := observed.Template
		observed.Template = versions.Templates{Name: template.Name, Next: template.Next, Unknown: template.Unknown && template.Name == ""}
		observed.Version, observed.FormerVersion = version, ""
		cluster.AddOns[name] = observed
		if cluster.Facts.Versions == nil {
			cluster.Facts.Versions = map[string]evaluation.VersionFact{}
		}
		cluster.Facts.Versions[name] = evaluation.VersionFact{Version: version}
	}
	for name, template := range c.Templates {
		if observed, installed := cluster.AddOns[name]; installed {
			observed.Template = versions.Templates{Name: template}
			cluster.AddOns[name] = observed
		}
	}
	for _, name := range c.RollOut {
		if observed, installed := cluster.AddOns[name]; installed && observed.Template.Next != "" {
			observed.Template = versions.Templates{Name: observed.Template.Next, Running: observed.Template.RollingOut}
			cluster.AddOns[name] = observed
		}
	}
}

// Findings returns the findings on all edges of the installed add-ons, by add-on. It evaluates dependencies before dependents, and
// sets the conditions that follow from the findings.
func (e *Evaluation) Findings(cluster Cluster) map[string][]evaluation.Finding {
	settled := map[string]evaluation.Observation{} // the add-ons with other conditions than before
	observe := func(name string) evaluation.Observation {
		if observed, ok := settled[name]; ok {
			return observed
		}
		return cluster.AddOns[name]
	}
	findings := make(map[string][]evaluation.Finding, len(cluster.AddOns))
	now := metav1.NewTime(cluster.Now)
	for _, group := range e.order {
		// Add-ons that refer to each other are evaluated until no condition changes any more.
		// Only Required edges propagate, and cycles of Required edges do not apply. So this
		// takes at most one pass for each add-on, and a last one without any change.
		for passes, changed := 0, true; changed && passes <= len(group); passes++ {
			changed = false
			for _, name := range group {
				if _, installed := cluster.AddOns[name]; !installed {
					continue
				}
				findings[name] = e.evaluator.Evaluate(name, e.evaluator.State(name, cluster.Cluster, observe))
				last := observe(name)
				degraded := condition.Decide(condition.Stored{Degraded: last.Degraded}, findings[name], now).Degraded
				if degraded == nil { // the last one stays
					continue
				}
				settled[name] = withDegraded(last, degraded, now)
				changed = changed || len(group) > 1 && availability.RequiredFails(last.Degraded) != availability.RequiredFails(degraded)
			}
		}
	}
	return findings
}

// withDegraded returns the add-on with another condition of addon-manager, and with the one that its agent sets because of it.
func withDegraded(observed evaluation.Observation, degraded *metav1.Condition, now metav1.Time) evaluation.Observation {
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
// by add-on and in the order of declaration. The edges of a removed add-on are left out.
func Compare(oldFindings, newFindings map[string][]evaluation.Finding) []Difference {
	var differences []Difference
	for _, addOn := range slices.Sorted(maps.Keys(newFindings)) {
		oldByEdge := map[string]*evaluation.Finding{}
		for i := range oldFindings[addOn] {
			oldByEdge[oldFindings[addOn][i].Name()] = &oldFindings[addOn][i]
		}
		for i := range newFindings[addOn] {
			finding := &newFindings[addOn][i]
			old := oldByEdge[finding.Name()]
			if old == nil || old.Verdict != finding.Verdict || finding.Unsatisfied() && old.Type() != finding.Type() {
				differences = append(differences, Difference{AddOn: addOn, Before: old, After: finding})
			}
		}
	}
	return differences
}
