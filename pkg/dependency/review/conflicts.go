package review

import (
	"fmt"

	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/text"
)

// Conflicts returns the edges of an add-on whose range of versions excludes that of another
// edge on the same add-on: where both apply, one of them always fails.
func Conflicts(all *catalog.Catalog, addOn string) (judged []Judgement) {
	declared := all.Declaration(addOn)
	for i := range declared.Edges {
		edge := &declared.Edges[i]
		if edge.AddOn == "" || edge.Versions == nil || declaration.Conflicts(&edge.Dependency) {
			continue
		}
		for _, dependent := range all.Dependents(edge.AddOn) {
			others := all.Declaration(dependent).Edges
			for j := range others {
				if dependent == addOn && j <= i || declaration.Conflicts(&others[j].Dependency) || others[j].AddOn != edge.AddOn || !edge.Versions.Excludes(others[j].Versions) {
					continue
				}
				judged = append(judged, Judgement{RuleConflict, false, declared.EdgePath(i), conflict(edge, &others[j], dependent)})
			}
		}
	}
	return judged
}

func conflict(edge, other *declaration.Edge, dependent string) string {
	where := "on a cluster with both"
	if edge.When != nil || other.When != nil {
		where = "on a cluster where both apply"
	}
	return fmt.Sprintf("%q is needed in version %s here, and in %s by %q: no version matches both, so one of them fails %s", text.Name(edge.AddOn),
		edge.Dependency.Version, other.Dependency.Version, text.Name(dependent), where)
}
