package review

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/text"
)

// The rules of this package.
const (
	// RuleInvalidName: no add-on can have the name of the registration.
	RuleInvalidName Rule = "InvalidName"
	// RuleImpossible: a dependency can never be satisfied: no add-on can have its name, or what
	// the add-on conflicts with is always there.
	RuleImpossible Rule = "ImpossibleDependency"
	// RuleNoMessage: a dependency has no message.
	RuleNoMessage Rule = "NoMessage"
	// RuleLongChain: a long chain of Required dependencies begins at the add-on.
	RuleLongChain Rule = "LongChain"
	// RuleConflict: two ranges on one dependency exclude each other.
	RuleConflict Rule = "ConflictingVersions"
	// RuleEveryVersion: a range has every release.
	RuleEveryVersion Rule = "EveryVersion"
	// RuleNoVersion: a range has no version.
	RuleNoVersion Rule = "NoVersion"
	// RuleVersionNotReported: a range is on an add-on of which no version is known.
	RuleVersionNotReported Rule = "VersionNotReported"
)

// Advise returns what admission accepts without a warning: dependencies that can never be
// satisfied, and what the author could do better.
func Advise(declared declaration.Declaration) (judged []Judgement) {
	for i := range declared.Edges {
		edge := &declared.Edges[i]
		what := "dependency"
		if len(edge.Alternatives) > 0 {
			what = "alternative"
		}
		for end := range edge.Ends() {
			if end.AddOn != "" && !declaration.Conflicts(&end.Dependency) && len(validation.IsDNS1123Subdomain(end.AddOn)) > 0 {
				judged = append(judged, Judgement{
					RuleImpossible, true, declared.EdgePath(i),
					fmt.Sprintf("no add-on can have the name %q, so this %s is never satisfied", end.AddOn, what),
				})
			}
		}
		if edge.Dependency.Message == "" {
			judged = append(judged, Judgement{
				RuleNoMessage, false, declared.EdgePath(i),
				fmt.Sprintf("dependency %q has no message: say what does not work without it", edge.Dependency.Name),
			})
		}
	}
	return judged
}

// Name judges the name of a registration as an API server does.
func Name(name string) []Judgement {
	const field = "metadata.name"
	if name == "" {
		return []Judgement{{RuleInvalidName, true, field, field + ": Required value: it is the name of the add-on"}}
	}
	if wrong := validation.IsDNS1123Subdomain(name); len(wrong) > 0 {
		return []Judgement{{RuleInvalidName, true, field, fmt.Sprintf("%s: Invalid value: %q: %s", field, text.Excerpt(name), strings.Join(wrong, "; "))}}
	}
	return nil
}
