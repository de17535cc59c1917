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

// warnings returns judgements that the author of an accepted declaration should read:
// effects of two add-ons on each other, and ranges with another meaning than they seem to
// have.
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

// EveryVersion returns judgements on edges whose range has every release, at most
// maxConflicts. An add-on that reports no version does not match such a range, which its
// author does not expect. The range of a conflict is not judged, because there the author
// expects it.
func EveryVersion(declared declaration.Declaration) []Judgement {
	var judgements []Judgement
	for i := range declared.Edges {
		for edge := range declared.Edges[i].Ends() {
			if declaration.Conflicts(&edge.Dependency) || !edge.Versions.AcceptsEveryRelease() {
				continue
			}
			remedy := "leave version out if any will do"
			if edge.Dependency.Type == addonv1alpha1.DependencyTypeIfInstalled {
				remedy = "remove the dependency if any version will do"
			}
			judgements = append(judgements, Judgement{RuleEveryVersion, false, declared.EdgePath(i), fmt.Sprintf(
				"every release of %q is in the range %q, but an add-on that reports no version is not: %s",
				text.Name(edge.AddOn), excerpt(edge.Dependency.Version), remedy)})
			if len(judgements) == maxConflicts {
				return judgements
			}
		}
	}
	return judgements
}

// NoVersion returns judgements on edges and requirements whose range has no version, at most maxConflicts.
func NoVersion(declared declaration.Declaration) []Judgement {
	var judgements []Judgement
	for i := range declared.Edges {
		for edge := range declared.Edges[i].Ends() {
			if !edge.Versions.Excludes(edge.Versions) || len(judgements) == maxConflicts {
				continue
			}
			judgements = append(judgements, Judgement{RuleNoVersion, false, declared.EdgePath(i), fmt.Sprintf(
				"no version of %q is in the range %q", text.Name(edge.AddOn), excerpt(edge.Dependency.Version))})
		}
	}
	for i := range declared.Platform {
		required := &declared.Platform[i]
		if required.Versions.Excludes(required.Versions) && len(judgements) < maxConflicts {
			judgements = append(judgements, Judgement{RuleNoVersion, false, declared.RequirementsPath(), fmt.Sprintf(
				"%s: no version is in the range %q", text.Name(required.Name), excerpt(required.Wanted))})
		}
	}
	return judgements
}
