package protection

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/condition"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/text"
)

// maxSentences is how long the sentences on one add-on are, in characters.
const maxSentences = 500

// MayContradict reports whether the installation of an add-on can contradict anything: it has a requirement or is on a
// cycle, or an edge that it has, or that is on it, compares versions or is a conflict.
func MayContradict(declared *catalog.Catalog, addOn string) bool {
	if len(declared.Cycles(addOn)) > 0 || declared.Tied(addOn) != nil {
		return true
	}
	for _, dependent := range append(declared.Dependents(addOn), addOn) {
		for _, one := range declared.Declarations(dependent) {
			if dependent == addOn && len(one.Platform) > 0 || slices.ContainsFunc(one.Edges, func(edge declaration.Edge) bool {
				return (dependent == addOn || edge.IsOn(addOn)) && mayContradict(&edge)
			}) {
				return true
			}
		}
	}
	return false
}

// mayContradict reports whether an edge is a conflict, or compares versions.
func mayContradict(edge *declaration.Edge) bool {
	for end := range edge.Ends() {
		if declaration.Conflicts(&end.Dependency) || end.MayCompareVersion() {
			return true
		}
	}
	return false
}

// Settle returns a state once waiting has done all it can: what is installed is available, and what is being deleted is
// gone. The version that the agent of the changed add-on reports is that before the change; it does not count.
func Settle(state evaluation.State, changed string) evaluation.State {
	state.AddOns = slices.Clone(state.AddOns)
	for i := range state.AddOns {
		settle(&state.AddOns[i])
	}
	if changed != "" {
		versions := maps.Clone(state.Cluster.Facts.Versions)
		if versions == nil {
			versions = map[string]evaluation.VersionFact{}
		}
		versions[changed] = evaluation.VersionFact{}
		state.Cluster.Facts.Versions = versions
	}
	return state
}

func settle(addOn *evaluation.Observation) {
	if !addOn.Removed.IsZero() {
		*addOn = evaluation.Observation{Name: addOn.Name}
	}
	if addOn.Installed {
		addOn.Degraded = nil
		addOn.Available = &metav1.Condition{Type: addonv1alpha1.ManagedClusterAddOnConditionAvailable, Status: metav1.ConditionTrue}
	}
}

// Contradicted are the findings with which add-ons could not work after a change, by the name of the add-on.
type Contradicted map[string][]evaluation.Finding

// Contradictions returns what contradicts after a change and did not before. Both are findings in settled states, by
// the name of the add-on. What is not installed, not available or not known may follow, and contradicts nothing
// (lifecycle.md, principle 2).
func Contradictions(before, after map[string][]evaluation.Finding) Contradicted {
	found := Contradicted{}
	for addOn, findings := range after {
		already := sets.New[string]()
		for i := range before[addOn] {
			if contradicts(before[addOn][i]) {
				already.Insert(targets(&before[addOn][i])...)
			}
		}
		for i := range findings {
			if contradicts(findings[i]) && !already.HasAny(targets(&findings[i])...) {
				found[addOn] = append(found[addOn], findings[i])
			}
		}
	}
	return found
}

// targets are what a finding is on. Its name does not count: an author may rename an edge, or relax it to alternatives, while
// it contradicts.
func targets(f *evaluation.Finding) []string {
	if f.Requirement != nil {
		return []string{"requirement " + f.Name()} // an add-on may have this name
	}
	var all []string
	for end := range f.Ends() {
		all = append(all, end.Target())
	}
	return all
}

// contradicts reports whether no waiting satisfies an edge or a requirement without which the add-on cannot work.
func contradicts(f evaluation.Finding) bool {
	switch f.Verdict {
	case evaluation.VersionMismatch, evaluation.Conflict, evaluation.Cycle:
		return f.Blocks()
	case evaluation.RequirementNotMet: // a claim without a value may not be reported yet
		return f.Detail != nil && f.Detail.Version.Number != ""
	case evaluation.NoAlternative: // another alternative may follow
		return f.Blocks() && f.Detail != nil && !slices.ContainsFunc(f.Detail.Alternatives, func(one evaluation.Finding) bool { return !contradicts(one) })
	default:
		return false
	}
}

// Message says why the add-on itself could not work, and counts and names the others that would break. It is
// empty where nothing contradicts.
func (c Contradicted) Message(installed string) string {
	var parts []string
	if own := c[installed]; len(own) > 0 {
		parts = append(parts, "contradicts what it needs: "+condition.Message(own, maxSentences))
	}
	others := slices.DeleteFunc(slices.Sorted(maps.Keys(c)), func(name string) bool { return name == installed })
	if len(others) > 0 {
		parts = append(parts, c.broken(others))
	}
	return strings.Join(parts, "; and ")
}

func (c Contradicted) broken(addOns []string) string {
	var named []string
	for _, name := range addOns[:min(len(addOns), maxNamed)] {
		named = append(named, fmt.Sprintf("%s: %s", text.Name(name), condition.Message(c[name], maxSentences)))
	}
	if left := len(addOns) - len(named); left > 0 {
		named = append(named, "and "+text.Count(left, "more add-on"))
	}
	return fmt.Sprintf("would break %s: %s", text.Count(len(addOns), "add-on"), strings.Join(named, "; "))
}
