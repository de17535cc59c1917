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

// maxSentences is the maximal length of the sentences on one add-on, in characters.
const maxSentences = 500

// MayContradict reports whether the installation of an add-on can cause a contradiction: the add-on has a requirement or is on a
// cycle, or an edge from it or to it compares versions or is a conflict.
func MayContradict(declared *catalog.Catalog, addOn string) bool {
	if len(declared.Cycles(addOn)) > 0 || declared.WidestCycle(addOn) != nil {
		return true
	}
	for _, dependent := range append(declared.Dependents(addOn), addOn) {
		for _, specification := range declared.Declarations(dependent) {
			if dependent == addOn && len(specification.Platform) > 0 || slices.ContainsFunc(specification.Edges, func(edge declaration.Edge) bool {
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

// Settle returns the state after all waiting: installed add-ons are available, and add-ons that are being deleted are gone. The
// reported version of the changed add-on is dropped, because its agent reported it before the change.
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

// Contradicted has the findings with which add-ons could not work after a change, by the name of the add-on.
type Contradicted map[string][]evaluation.Finding

// Contradictions returns the findings that contradict only after a change. Its arguments are findings in settled states, by the name of
// the add-on. A missing, unavailable or unobserved add-on is no contradiction, because it may follow.
func Contradictions(before, after map[string][]evaluation.Finding) Contradicted {
	contradictions := Contradicted{}
	for addOn, findings := range after {
		ignored := sets.New[string]()
		for i := range before[addOn] {
			if contradicts(before[addOn][i]) {
				ignored.Insert(targets(&before[addOn][i])...)
			}
		}
		for i := range findings {
			if contradicts(findings[i]) && !ignored.HasAny(targets(&findings[i])...) {
				contradictions[addOn] = append(contradictions[addOn], findings[i])
			}
		}
	}
	return contradictions
}

// targets returns the add-ons, APIs or the requirement of a finding. They identify it, because an author may rename an edge or relax it to
// alternatives while it contradicts.
func targets(f *evaluation.Finding) []string {
	if f.Requirement != nil {
		return []string{"requirement " + f.Name()} // an add-on may have this name
	}
	var names []string
	for end := range f.Ends() {
		names = append(names, end.Target())
	}
	return names
}

// contradicts reports whether no waiting satisfies an edge or a requirement without which the add-on cannot work.
func contradicts(f evaluation.Finding) bool {
	switch f.Verdict {
	case evaluation.VersionMismatch, evaluation.Conflict, evaluation.Cycle:
		return f.Blocks()
	case evaluation.RequirementNotMet: // a claim without a value may not be reported yet
		return f.Detail != nil && f.Detail.Version.Number != ""
	case evaluation.NoAlternative: // another alternative may follow
		return f.Blocks() && f.Detail != nil && !slices.ContainsFunc(f.Detail.Alternatives, func(alternative evaluation.Finding) bool {
			return !contradicts(alternative)
		})
	default:
		return false
	}
}

// Message explains why the add-on itself could not work, and counts and names the other add-ons that would break. It is empty
// without contradictions.
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
	var sentences []string
	for _, name := range addOns[:min(len(addOns), maxNamed)] {
		sentences = append(sentences, fmt.Sprintf("%s: %s", text.Name(name), condition.Message(c[name], maxSentences)))
	}
	if remaining := len(addOns) - len(sentences); remaining > 0 {
		sentences = append(sentences, "and "+text.Count(remaining, "more add-on"))
	}
	return fmt.Sprintf("would break %s: %s", text.Count(len(addOns), "add-on"), strings.Join(sentences, "; "))
}
