package review

import (
	"fmt"
	"slices"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/text"
)

// impossible returns the conflicts that never let the add-on work: with itself, with any version of an add-on that it requires, or with
// any version of all alternatives of an edge.
func impossible(addOn string, declared declaration.Declaration) []Judgement {
	var judgements []Judgement
	required := map[string]bool{addOn: true}
	for i := range declared.Edges {
		if edge := &declared.Edges[i]; edge.Waits() && edge.When == nil {
			required[edge.AddOn] = true
		}
	}
	for i := range declared.Edges {
		edge := &declared.Edges[i]
		if !declaration.Conflicts(&edge.Dependency) || !required[edge.AddOn] || edge.When != nil {
			continue
		}
		switch {
		case edge.AddOn == addOn:
			judgements = append(judgements, Judgement{
				RuleImpossible, true, declared.EdgePath(i),
				fmt.Sprintf("%q conflicts with itself, so it can never be available; name another add-on", text.Name(addOn)),
			})
		case !declaration.ComparesVersion(&edge.Dependency):
			judgements = append(judgements, Judgement{RuleImpossible, true, declared.EdgePath(i), fmt.Sprintf(
				"%q is required, and any version of it conflicts, so the add-on can never be available; remove one of the two dependencies",
				text.Name(edge.AddOn))})
		}
	}
	return append(judgements, impossibleAlternatives(declared)...)
}

// impossibleAlternatives returns the edges whose alternatives all conflict with the add-on in any version.
func impossibleAlternatives(declared declaration.Declaration) []Judgement {
	var judgements []Judgement
	conflicting := map[string]bool{}
	for i := range declared.Edges {
		edge := &declared.Edges[i]
		if declaration.Conflicts(&edge.Dependency) && edge.When == nil && !declaration.ComparesVersion(&edge.Dependency) {
			conflicting[edge.AddOn] = true
		}
	}
	for i := range declared.Edges {
		edge := &declared.Edges[i]
		if len(edge.Alternatives) == 0 || edge.Dependency.Type != addonv1alpha1.DependencyTypeRequired || edge.When != nil {
			continue
		}
		possible := func(alternative declaration.Edge) bool { return !conflicting[alternative.AddOn] }
		if !slices.ContainsFunc(edge.Alternatives, possible) {
			judgements = append(judgements, Judgement{RuleImpossible, true, declared.EdgePath(i), fmt.Sprintf(
				"one of the alternatives of %q is required, and any version of each conflicts, so the add-on can never be available; "+
					"remove one of these dependencies", text.Name(edge.Dependency.Name))})
		}
	}
	return judgements
}
