package review

import (
	"fmt"

	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/text"
)

const (
	// maxDepth is how many dependencies in a row are usual. An add-on at the end of a longer
	// chain can fail because of many others.
	maxDepth = 5
	// maxCompared is how many edges of other add-ons a declaration is compared with, and
	// maxConflicts how many of them are reported: an API server passes on 4 KiB of warnings.
	maxCompared  = 1000
	maxConflicts = 10
)

// warnings are what an author should know of a declaration that is accepted, beyond its
// problems: what two add-ons do to each other, and ranges that do not mean what they seem to.
func warnings(addOn string, declared declaration.Declaration, others *catalog.Outline) []Judgement {
	return append(append(EveryVersion(declared), longChain(declared, others)...), conflicts(addOn, declared, others)...)
}

func longChain(declared declaration.Declaration, others *catalog.Outline) []Judgement {
	depth := others.Depth(declared)
	if depth <= maxDepth {
		return nil
	}
	return []Judgement{{
		RuleLongChain, false, declared.Path,
		fmt.Sprintf("a chain of %d Required dependencies begins here: each of them can break the add-on", depth),
	}}
}

// EveryVersion returns the edges whose range has every release. An add-on whose version is
// not known does not match it, which is not what its author means.
func EveryVersion(declared declaration.Declaration) (judged []Judgement) {
	for i := range declared.Edges {
		edge := &declared.Edges[i]
		if edge.Versions.AcceptsEveryRelease() {
			judged = append(judged, Judgement{RuleEveryVersion, false, declared.EdgePath(i), fmt.Sprintf(
				"every release of %q is in the range %q, but an add-on that reports no version is not: write \"*\" if any version will do",
				text.Name(edge.AddOn), edge.Dependency.Version)})
		}
	}
	return judged
}
