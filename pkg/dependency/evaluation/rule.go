package evaluation

import (
	"strings"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/input"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/versions"
	"open-cluster-management.io/interlock/pkg/text"
)

// kind is a kind of edge or requirement. A file named after the kind has its rule and its evaluation. A new kind needs
// such a file, an entry in the three lists below, and a table of tests.
type kind int

const (
	kindAddOn kind = iota
	kindVersion
	kindConflict
	kindConflictingVersion
	kindAPI
	kindAnyOf
	kindHubAPI
	kindHostingAPI
	kindKubernetes
	kindOCM
	kindClaim
	kinds // the number of kinds
)

// rule has the inputs of a kind, and the functions that describe an unsatisfied finding.
type rule struct {
	// inputs are the inputs of its evaluation in addition to the add-on of the edge.
	inputs             input.Set
	sentence, describe func(*Finding) string
}

var rules = [kinds]rule{
	kindAddOn: addOnRule, kindVersion: versionRule, kindAPI: apiRule,
	kindHubAPI: hubAPIRule, kindHostingAPI: hostingAPIRule,
	kindConflict: conflictRule, kindConflictingVersion: conflictingVersionRule,
	kindKubernetes: kubernetesRule, kindOCM: ocmRule, kindClaim: claimRule,
}

// requirementKind returns the kind of a requirement.
func requirementKind(requirement *declaration.Requirement) kind {
	switch {
	case requirement.Claim != "":
		return kindClaim
	case requirement.OCM:
		return kindOCM
	default:
		return kindKubernetes
	}
}

// dependencyKind returns the kind of a dependency.
func dependencyKind(dependency *addonv1alpha1.AddonDependency) kind {
	switch {
	case declaration.HasAlternatives(dependency):
		return kindAnyOf
	case declaration.ServedBy(dependency) == addonv1alpha1.APIServerHub:
		return kindHubAPI
	case declaration.ServedBy(dependency) == addonv1alpha1.APIServerHostingCluster:
		return kindHostingAPI
	case dependency.API != nil:
		return kindAPI
	case declaration.Conflicts(dependency) && declaration.ComparesVersion(dependency):
		return kindConflictingVersion
	case declaration.Conflicts(dependency):
		return kindConflict
	case declaration.ComparesVersion(dependency):
		return kindVersion
	default:
		return kindAddOn
	}
}

// evaluate sets the verdict and its reasons by the rule of the kind, except for alternatives. The functions are called
// here instead of by rules, because a dynamic call would allocate its arguments in each evaluation.
func (k kind) evaluate(g *grounds, f *Finding) {
	switch k {
	case kindVersion:
		evaluateVersion(g, f)
	case kindConflict:
		evaluateConflict(g, f)
	case kindConflictingVersion:
		evaluateConflictingVersion(g, f)
	case kindAPI:
		evaluateAPI(g, f)
	case kindHubAPI:
		evaluateHubAPI(g, f)
	case kindHostingAPI:
		evaluateHostingAPI(g, f)
	case kindKubernetes:
		evaluateKubernetes(g, f)
	case kindOCM:
		evaluateOCM(g, f)
	case kindClaim:
		evaluateClaim(g, f)
	default:
		evaluateAddOn(g, f)
	}
}

// grounds are the inputs of a verdict.
type grounds struct {
	catalog *catalog.Catalog
	// addOn is the dependent.
	addOn string
	// Either edge or requirement is set.
	edge        *declaration.Edge
	requirement *declaration.Requirement
	state       *State
	budget      budget   // of the add-on's own expressions
	cluster     *Cluster // of the state
	// waiters are the add-ons that wait for the dependent. It is nil without alternatives that can wait for it.
	waiters *waiters
}

// Sentence describes an unsatisfied edge with the proposal's text, the
// author's message and link, and the finding in parentheses.
func (f *Finding) Sentence(authorMessage string) string {
	sentence := f.rule().sentence(f)
	if authorMessage != "" {
		sentence += " " + authorMessage
	}
	return withDocs(sentence, f.Docs()) + " (" + f.Reason() + ")"
}

// withDocs adds the link of a page to a sentence, which may lack a period.
func withDocs(sentence, docs string) string {
	switch {
	case docs == "":
		return sentence
	case sentence == "":
		return "See " + docs
	default:
		return strings.TrimSuffix(sentence, ".") + ". See " + docs
	}
}

// Reason returns a description of the reason why an edge is not satisfied.
func (f *Finding) Reason() string {
	description := f.withPolicies(f.withTolerance(f.rule().describe(f)))
	if f.Detail != nil && f.Detail.ConditionError != "" {
		description += "; " + text.Cut(text.OneLine(f.Detail.ConditionError), maxReason)
	}
	return description
}

func (f *Finding) rule() rule {
	if f.Due {
		return dueRule
	}
	if f.Dependency != nil && declaration.HasAlternatives(f.Dependency) && f.Verdict != Waived {
		// Alternatives are not in rules, because the rule of its kind describes each of them.
		return rule{sentence: anyOfSentence, describe: describeAlternatives}
	}
	switch f.Verdict {
	case Cycle:
		return cycleRule
	case SettingMismatch:
		return settingRule
	case Waived:
		return waivedRule
	default:
		if f.Requirement != nil {
			return rules[requirementKind(f.Requirement)]
		}
		return rules[dependencyKind(f.Dependency)]
	}
}

const (
	maxReason  = 1024 // characters of a reason or an explanation
	maxExcerpt = 256  // characters of a range or a version
)

func excerpt(value string) string { return text.Cut(text.OneLine(value), maxExcerpt) }

// join appends an explanation to a description. It leaves out DoesNotMatch, which would add nothing.
func join(description, because string) string {
	if because == "" || because == versions.DoesNotMatch {
		return description
	}
	return description + ": " + because
}
