package review

import (
	"fmt"
	"slices"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/text"
)

// maxDepth is how many dependencies in a row are usual. An add-on at the end of a longer
// chain can fail because of many others.
const maxDepth = 5

// warnings are what an author should know of a declaration that is accepted, beyond its
// problems: what two add-ons do to each other, and ranges that do not mean what they seem to.
func warnings(addOn string, declared declaration.Declaration, others *catalog.Outline) []Judgement {
	return slices.Concat(longChain(addOn, declared, others), conflicts(addOn, declared, others), EveryVersion(declared), NoVersion(declared))
}

func longChain(addOn string, declared declaration.Declaration, others *catalog.Outline) []Judgement {
	chain := others.Chain(addOn, declared)
	depth := len(chain) - 1
	if depth <= maxDepth {
		return nil
	}
	return []Judgement{{
		RuleLongChain, false, declared.Path,
		fmt.Sprintf("a chain of %d Required dependencies begins here: each of them can break the add-on: %s", depth, catalog.ChainText(chain)),
	}}
}

// EveryVersion returns the edges whose range has every release, up to some. An add-on whose
// version is not known does not match it, which is not what its author means. It is what
// an author means of a conflict.
func EveryVersion(declared declaration.Declaration) (judged []Judgement) {
	for i := range declared.Edges {
		for edge := range declared.Edges[i].Ends() {
			if declaration.Conflicts(&edge.Dependency) || !edge.Versions.AcceptsEveryRelease() {
				continue
			}
			remedy := "leave version out if any will do"
			if edge.Dependency.Type == addonv1alpha1.DependencyTypeIfInstalled {
				remedy = "remove the dependency if any version will do"
			}
			judged = append(judged, Judgement{RuleEveryVersion, false, declared.EdgePath(i), fmt.Sprintf(
				"every release of %q is in the range %q, but an add-on that reports no version is not: %s",
				text.Name(edge.AddOn), shown(edge.Dependency.Version), remedy)})
			if len(judged) == maxConflicts {
				return judged
			}
		}
	}
	return judged
}

// NoVersion returns the edges whose range has no version, up to some.
func NoVersion(declared declaration.Declaration) (judged []Judgement) {
	for i := range declared.Edges {
		for edge := range declared.Edges[i].Ends() {
			if !edge.Versions.Excludes(edge.Versions) || len(judged) == maxConflicts {
				continue
			}
			judged = append(judged, Judgement{RuleNoVersion, false, declared.EdgePath(i), fmt.Sprintf(
				"no version of %q is in the range %q", text.Name(edge.AddOn), shown(edge.Dependency.Version))})
		}
	}
	return judged
}
