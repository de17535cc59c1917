package review

import (
	"fmt"

	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/versions"
	"open-cluster-management.io/interlock/pkg/text"
)

// conflicts returns the edges of an add-on whose range of versions excludes that of another
// edge on the same add-on: where both apply, one of them always fails. There are more if
// maxCompared edges have been compared, or maxConflicts found.
func conflicts(addOn string, declared declaration.Declaration, others *catalog.Outline) (judged []Judgement) {
	compared := 0
	for i := range declared.Edges {
		edge := &declared.Edges[i]
		if !wantsVersion(edge) {
			continue
		}
		for j := i + 1; j < len(declared.Edges); j++ {
			if other := &declared.Edges[j]; other.AddOn == edge.AddOn && wantsVersion(other) && edge.Versions.Excludes(other.Versions) {
				judged = append(judged, conflict(declared.EdgePath(i), edge, other, addOn))
			}
		}
		for dependent, other := range others.EdgesOn(edge.AddOn) {
			if dependent == addOn || !wantsVersion(other) { // what is stored of the add-on is replaced
				continue
			}
			if compared++; compared > maxCompared || len(judged) >= maxConflicts {
				return judged
			}
			accepted, err := versions.ParseRange(other.Dependency.Version, other.Dependency.Prereleases)
			if err == nil && edge.Versions.Excludes(accepted) {
				judged = append(judged, conflict(declared.EdgePath(i), edge, other, dependent))
			}
		}
	}
	return judged
}

// wantsVersion reports whether only some versions of an add-on satisfy the edge.
func wantsVersion(edge *declaration.Edge) bool {
	return edge.AddOn != "" && declaration.ComparesVersion(&edge.Dependency) && !declaration.Conflicts(&edge.Dependency)
}

func conflict(field string, edge, other *declaration.Edge, dependent string) Judgement {
	where := "on a cluster with both"
	if edge.When != nil || other.When != nil {
		where = "on a cluster where both apply"
	}
	return Judgement{RuleConflict, false, field, fmt.Sprintf(
		"%q is needed in version %s here, and in %s by %q: no version matches both, so one of them fails %s",
		text.Name(edge.AddOn), edge.Dependency.Version, other.Dependency.Version, text.Name(dependent), where)}
}
