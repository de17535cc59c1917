package review

import (
	"fmt"

	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/text"
)

// impossible returns the conflicts by which the add-on can never work: with itself, or with
// any version of an add-on that it requires.
func impossible(addOn string, declared declaration.Declaration) (judged []Judgement) {
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
			judged = append(judged, Judgement{
				RuleImpossible, true, declared.EdgePath(i),
				fmt.Sprintf("%q conflicts with itself, so it can never be available; name another add-on", text.Name(addOn)),
			})
		case !declaration.ComparesVersion(&edge.Dependency):
			judged = append(judged, Judgement{RuleImpossible, true, declared.EdgePath(i), fmt.Sprintf(
				"%q is required, and any version of it conflicts, so the add-on can never be available; remove one of the two dependencies",
				text.Name(edge.AddOn))})
		}
	}
	return judged
}
