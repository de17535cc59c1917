// Package steps plans installations and removals that a user starts by hand: the add-ons, their managed clusters and the order. It
// has no clock and no client. It follows the rules by which Interlock and Open Cluster Management install and remove add-ons.
package steps

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"open-cluster-management.io/interlock/pkg/dependency/condition/whatif"
	"open-cluster-management.io/interlock/pkg/text"
)

// Cluster is the observed state of a managed cluster, the input of its plan.
type Cluster struct {
	whatif.Cluster
	// Selected reports whether a Placement that installs an add-on selects the cluster. ok is false if that could not be read.
	Selected func(addOn string) (selected, ok bool)
	// Absent reports whether a Placement certainly does not exist. It may be nil.
	Absent func(placement types.NamespacedName) bool
	// Owned are the add-ons on the cluster that Interlock, or the plugin, has installed.
	Owned sets.Set[string]
	// Taken are the Owned add-ons that another writer has taken over.
	Taken sets.Set[string]
	// Again are the add-ons on the cluster that have a step although they are installed, where the installation needs them.
	Again sets.Set[string]
}

// Plan has the steps of an installation or a removal on all managed clusters.
type Plan struct {
	// Layers are done one after the other.
	Layers []Layer
	// Problems are the reasons why the plan cannot be carried out.
	Problems []Finding
	// Findings are remarks that do not prevent the plan.
	Findings []Finding
}

// Layer are steps that are done together, ascending by add-on.
type Layer []Step

// Step is an add-on that is installed or removed.
type Step struct {
	AddOn string
	// Waits is whether the step only waits, because the add-on is installed and not ready, or being deleted already.
	Waits bool
	// Exists is whether the add-on is installed already and only listed again.
	Exists bool
	// ByOCM is whether Open Cluster Management installs the add-on, because a Placement selects the clusters.
	ByOCM bool
	// Because are the add-ons, ascending, that need an installed add-on, or with which a removed one is removed. It is empty if the
	// user only named the add-on.
	Because []string
	// Clusters are the managed clusters, ascending.
	Clusters []string
}

// ByPlugin reports whether the plugin installs or removes the add-on.
func (s *Step) ByPlugin() bool { return !s.ByOCM && !s.Waits && !s.Exists }

// Finding is a sentence on some managed clusters.
type Finding struct {
	Text string
	// Clusters are ascending.
	Clusters []string
	// Named is whether the text names the clusters.
	Named bool
}

// Feasible reports whether the plan has no problems.
func (p *Plan) Feasible() bool { return len(p.Problems) == 0 }

// maxClusters is the maximal number of managed clusters that a text names.
const maxClusters = 3

// On counts and names managed clusters: "on 5 clusters: c1, c2, c3 and 2 more".
func On(clusters []string) string {
	names := make([]string, 0, maxClusters)
	for _, cluster := range clusters[:min(len(clusters), maxClusters)] {
		names = append(names, text.Name(cluster))
	}
	joined := strings.Join(names, ", ")
	if remaining := len(clusters) - len(names); remaining > 0 {
		joined += " and " + text.Count(remaining, "more cluster")
	}
	return "on " + text.Count(len(clusters), "cluster") + ": " + joined
}

// String returns the sentence and its managed clusters.
func (f Finding) String() string {
	if f.Named {
		return f.Text
	}
	return f.Text + " (" + On(f.Clusters) + ")"
}

// clusterPlan is the plan for one managed cluster.
type clusterPlan struct {
	// layers has the layer of each step, from 0, by add-on.
	layers map[string]int
	// because has a key for each add-on with a step. The values are the add-ons that need it. They are empty if the user named it.
	because map[string]sets.Set[string]
	// byOCM are the add-ons with a step that Open Cluster Management installs.
	byOCM sets.Set[string]
	// waits are the add-ons with a step that only waits.
	waits sets.Set[string]
	// exist are the add-ons with a step that are installed already.
	exist sets.Set[string]
	// problems and findings are sentences.
	problems, findings sets.Set[string]
}

func newClusterPlan() *clusterPlan {
	return &clusterPlan{
		layers: map[string]int{}, because: map[string]sets.Set[string]{}, byOCM: sets.New[string](),
		waits: sets.New[string](), exist: sets.New[string](),
		problems: sets.New[string](), findings: sets.New[string](),
	}
}

// addStep gives an add-on a step. dependent is the add-on that needs it, or empty.
func (c *clusterPlan) addStep(addOn, dependent string) {
	if c.because[addOn] == nil {
		c.because[addOn] = sets.New[string]()
	}
	if dependent != "" {
		c.because[addOn].Insert(dependent)
	}
}

// hasStep reports whether the add-on has a step.
func (c *clusterPlan) hasStep(addOn string) bool { return c.because[addOn] != nil }

// mergePlans makes a plan on each managed cluster, and joins equal steps and sentences.
func mergePlans(clusters []Cluster, planOn func(Cluster) *clusterPlan) *Plan {
	plans := make(map[string]*clusterPlan, len(clusters))
	for _, cluster := range clusters {
		plans[cluster.Name] = planOn(cluster)
	}
	steps, problems, findings := map[stepKey]*Step{}, map[string][]string{}, map[string][]string{}
	for _, cluster := range slices.Sorted(maps.Keys(plans)) {
		plan := plans[cluster]
		for addOn, because := range plan.because {
			key := stepKey{plan.layers[addOn], addOn, plan.byOCM.Has(addOn), plan.waits.Has(addOn), plan.exist.Has(addOn)}
			if steps[key] == nil {
				steps[key] = &Step{AddOn: addOn, ByOCM: key.byOCM, Waits: key.waits, Exists: key.exists}
			}
			step := steps[key]
			step.Clusters = append(step.Clusters, cluster)
			step.Because = sets.List(sets.New(step.Because...).Union(because))
		}
		for sentence := range plan.problems {
			problems[sentence] = append(problems[sentence], cluster)
		}
		for sentence := range plan.findings {
			findings[sentence] = append(findings[sentence], cluster)
		}
	}
	result := &Plan{Problems: sortFindings(problems), Findings: sortFindings(findings)}
	for _, key := range slices.SortedFunc(maps.Keys(steps), stepKey.compare) {
		for len(result.Layers) <= key.layer {
			result.Layers = append(result.Layers, nil)
		}
		result.Layers[key.layer] = append(result.Layers[key.layer], *steps[key])
	}
	return result
}

// stepKey identifies steps that are one on all managed clusters.
type stepKey struct {
	layer  int
	addOn  string
	byOCM  bool
	waits  bool
	exists bool
}

func (k stepKey) compare(other stepKey) int {
	last := map[bool]int{true: 1}
	return cmp.Or(cmp.Compare(k.layer, other.layer), strings.Compare(k.addOn, other.addOn),
		cmp.Compare(last[k.byOCM], last[other.byOCM]), cmp.Compare(last[k.waits], last[other.waits]),
		cmp.Compare(last[k.exists], last[other.exists]))
}

// sortFindings returns sentences with their clusters. Sentences on more clusters come first.
func sortFindings(sentences map[string][]string) []Finding {
	var sorted []Finding
	for sentence, clusters := range sentences {
		sorted = append(sorted, Finding{Text: sentence, Clusters: clusters})
	}
	slices.SortFunc(sorted, func(a, b Finding) int {
		return cmp.Or(-cmp.Compare(len(a.Clusters), len(b.Clusters)), strings.Compare(a.Text, b.Text))
	})
	return sorted
}
