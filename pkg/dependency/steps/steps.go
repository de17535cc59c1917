// Package steps plans by hand what Interlock and Open Cluster Management do by themselves: which add-ons are installed on managed
// clusters, or removed from them, and in which order. It has no clock and no client. The rules are those of lifecycle.md,
// "Install what is missing" and "Removal".
package steps

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"open-cluster-management.io/interlock/pkg/dependency/whatif"
	"open-cluster-management.io/interlock/pkg/text"
)

// Cluster is a managed cluster that a plan is for.
type Cluster struct {
	whatif.Cluster
	// Selected reports whether a Placement that installs an add-on selects the cluster. known is false where that could not be read.
	Selected func(addOn string) (selected, known bool)
	// Absent reports whether a Placement is known not to exist; nil: that is known of none.
	Absent func(placement types.NamespacedName) bool
	// Owned are the add-ons on the cluster that Interlock, or the plugin, has installed.
	Owned sets.Set[string]
	// Taken are those of them that another writer has taken over.
	Taken sets.Set[string]
	// Again are the add-ons on the cluster that have a step although they are installed, where the installation needs them.
	Again sets.Set[string]
}

// Plan is what is to be done on all managed clusters.
type Plan struct {
	// Layers are done one after the other.
	Layers []Layer
	// Problems are why it cannot be done.
	Problems []Finding
	// Findings are what else matters, and keeps nothing from being done.
	Findings []Finding
	// Complete are the add-ons to be installed, by managed cluster, that wait there for nothing but what the plan has: what it
	// installs, or why that cannot be done.
	Complete map[string]sets.Set[string]
}

// Layer are steps that are done together, ascending by add-on.
type Layer []Step

// Step is an add-on that is installed or removed.
type Step struct {
	AddOn string
	// Waits: nothing is done but waiting. It is installed and not ready, or being removed already.
	Waits bool
	// Exists: nothing is done. It is installed, and listed again.
	Exists bool
	// ByOCM: not by the plugin. A Placement selects the clusters.
	ByOCM bool
	// Because are the add-ons, ascending, that need what is installed, or with which it is removed; empty: it was only named.
	Because []string
	// Clusters are the managed clusters, ascending.
	Clusters []string
}

// ByPlugin reports whether the plugin installs or removes it.
func (s *Step) ByPlugin() bool { return !s.ByOCM && !s.Waits && !s.Exists }

// Finding is a sentence that is true on some managed clusters.
type Finding struct {
	Text string
	// Clusters are ascending.
	Clusters []string
	// Named: the text names them.
	Named bool
}

// Feasible reports whether all of it can be done.
func (p *Plan) Feasible() bool { return len(p.Problems) == 0 }

// maxClusters is how many managed clusters a text names.
const maxClusters = 3

// On counts and names managed clusters: "on 5 clusters: c1, c2, c3 and 2 more".
func On(clusters []string) string {
	named := make([]string, 0, maxClusters)
	for _, cluster := range clusters[:min(len(clusters), maxClusters)] {
		named = append(named, text.Name(cluster))
	}
	listed := strings.Join(named, ", ")
	if left := len(clusters) - len(named); left > 0 {
		listed += " and " + text.Count(left, "more cluster")
	}
	return "on " + text.Count(len(clusters), "cluster") + ": " + listed
}

// String is the sentence, with the managed clusters.
func (f Finding) String() string {
	if f.Named {
		return f.Text
	}
	return f.Text + " (" + On(f.Clusters) + ")"
}

// onCluster is a plan for one managed cluster.
type onCluster struct {
	// layers are those of the steps, from 0, by add-on.
	layers map[string]int
	// because is why an add-on has a step; empty: it was named.
	because map[string]sets.Set[string]
	byOCM   sets.Set[string]
	// waits are the add-ons with a step that is only waited for.
	waits sets.Set[string]
	// exist are the add-ons with a step that are installed already.
	exist sets.Set[string]
	// complete are the add-ons with a step that wait for nothing but what the plan has.
	complete sets.Set[string]
	// problems and findings are sentences.
	problems, findings sets.Set[string]
}

func newOnCluster() *onCluster {
	return &onCluster{
		layers: map[string]int{}, because: map[string]sets.Set[string]{}, byOCM: sets.New[string](),
		waits: sets.New[string](), exist: sets.New[string](),
		problems: sets.New[string](), findings: sets.New[string](),
	}
}

// need adds why an add-on has a step.
func (c *onCluster) need(addOn, dependent string) {
	if c.because[addOn] == nil {
		c.because[addOn] = sets.New[string]()
	}
	if dependent != "" {
		c.because[addOn].Insert(dependent)
	}
}

// has reports whether the add-on has a step.
func (c *onCluster) has(addOn string) bool { return c.because[addOn] != nil }

// merged is the plan for all managed clusters, by their names.
func merged(clusters []Cluster, planOn func(Cluster) *onCluster) *Plan {
	plans := make(map[string]*onCluster, len(clusters))
	for _, cluster := range clusters {
		plans[cluster.Name] = planOn(cluster)
	}
	steps, problems, findings := map[stepKey]*Step{}, map[string][]string{}, map[string][]string{}
	for _, cluster := range slices.Sorted(maps.Keys(plans)) {
		one := plans[cluster]
		for addOn, because := range one.because {
			key := stepKey{one.layers[addOn], addOn, one.byOCM.Has(addOn), one.waits.Has(addOn), one.exist.Has(addOn)}
			if steps[key] == nil {
				steps[key] = &Step{AddOn: addOn, ByOCM: key.byOCM, Waits: key.waits, Exists: key.exists}
			}
			step := steps[key]
			step.Clusters = append(step.Clusters, cluster)
			step.Because = sets.List(sets.New(step.Because...).Union(because))
		}
		for sentence := range one.problems {
			problems[sentence] = append(problems[sentence], cluster)
		}
		for sentence := range one.findings {
			findings[sentence] = append(findings[sentence], cluster)
		}
	}
	plan := &Plan{Problems: listed(problems), Findings: listed(findings), Complete: map[string]sets.Set[string]{}}
	for cluster, one := range plans {
		plan.Complete[cluster] = one.complete
	}
	for _, key := range slices.SortedFunc(maps.Keys(steps), stepKey.compare) {
		for len(plan.Layers) <= key.layer {
			plan.Layers = append(plan.Layers, nil)
		}
		plan.Layers[key.layer] = append(plan.Layers[key.layer], *steps[key])
	}
	return plan
}

// stepKey is what is equal for the step of all managed clusters.
type stepKey struct {
	layer int
	addOn string
	byOCM bool
	waits bool

	exists bool
}

func (k stepKey) compare(other stepKey) int {
	last := map[bool]int{true: 1}
	return cmp.Or(cmp.Compare(k.layer, other.layer), strings.Compare(k.addOn, other.addOn),
		cmp.Compare(last[k.byOCM], last[other.byOCM]), cmp.Compare(last[k.waits], last[other.waits]),
		cmp.Compare(last[k.exists], last[other.exists]))
}

// listed are sentences with their clusters, those of most clusters first.
func listed(sentences map[string][]string) []Finding {
	var all []Finding
	for sentence, clusters := range sentences {
		all = append(all, Finding{Text: sentence, Clusters: clusters})
	}
	slices.SortFunc(all, func(a, b Finding) int {
		return cmp.Or(-cmp.Compare(len(a.Clusters), len(b.Clusters)), strings.Compare(a.Text, b.Text))
	})
	return all
}
