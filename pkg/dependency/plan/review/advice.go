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
	// RuleInvalidName means that no add-on can have the name of the registration.
	RuleInvalidName Rule = "InvalidName"
	// RuleImpossible means that a dependency can never be satisfied: no add-on can have its
	// name, or the add-on conflicts with itself or with an add-on that it requires.
	RuleImpossible Rule = "ImpossibleDependency"
	// RuleNoMessage means that a dependency has no message.
	RuleNoMessage Rule = "NoMessage"
	// RuleLongChain means that a long chain of Required dependencies begins at the add-on.
	RuleLongChain Rule = "LongChain"
	// RuleConflict means that two ranges on one dependency exclude each other.
	RuleConflict Rule = "ConflictingVersions"
	// RuleEveryVersion means that a range has every release.
	RuleEveryVersion Rule = "EveryVersion"
	// RuleNoVersion means that a range has no version.
	RuleNoVersion Rule = "NoVersion"
	// RuleVersionNotReported means that a range is on an add-on that reports no version.
	RuleVersionNotReported Rule = "VersionNotReported"
)

// Advise returns the judgements on a declaration that admission accepts without a warning:
// dependencies that can never be satisfied, and advice to the author.
func Advise(declared declaration.Declaration) []Judgement {
	var judgements []Judgement
	for i := range declared.Edges {
		edge := &declared.Edges[i]
		noun := "dependency"
		if len(edge.Alternatives) > 0 {
			noun = "alternative"
		}
		for end := range edge.Ends() {
			if end.AddOn != "" && !declaration.Conflicts(&end.Dependency) && len(validation.IsDNS1123Subdomain(end.AddOn)) > 0 {
				judgements = append(judgements, Judgement{
					RuleImpossible, true, declared.EdgePath(i),
					fmt.Sprintf("no add-on can have the name %q, so this %s is never satisfied", end.AddOn, noun),
				})
			}
		}
		if edge.Dependency.Message == "" {
			judgements = append(judgements, Judgement{
				RuleNoMessage, false, declared.EdgePath(i),
				fmt.Sprintf("dependency %q has no message: say what does not work without it", edge.Dependency.Name),
			})
		}
	}
	return judgements
}

// Name judges the name of a registration as an API server does.
func Name(name string) []Judgement {
	const field = "metadata.name"
	if name == "" {
		return []Judgement{{RuleInvalidName, true, field, field + ": Required value: it is the name of the add-on"}}
	}
	if problems := validation.IsDNS1123Subdomain(name); len(problems) > 0 {
		message := fmt.Sprintf("%s: Invalid value: %q: %s", field, text.Excerpt(name), strings.Join(problems, "; "))
		return []Judgement{{RuleInvalidName, true, field, message}}
	}
	return nil
}
