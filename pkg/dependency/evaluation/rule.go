package evaluation

import (
	"strings"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/input"
	"open-cluster-management.io/interlock/pkg/dependency/versions"
	"open-cluster-management.io/interlock/pkg/text"
)

// kind is a kind of edge or requirement. All of a kind is in the file of its name:
// its rule, and the function that evaluates it. A new kind needs such a file, a
// place in the three lists below, and a table of tests.
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
	kinds // how many there are
)

// rule is what a kind reads, and how it describes a finding that is not satisfied.
type rule struct {
	// inputs are what its evaluation reads beyond the add-on that an edge is on.
	inputs          input.Set
	sentence, found func(*Finding) string
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

// evaluate finds the verdict by the rule of the kind, and what it rests on, but for alternatives. The
// functions are named here, not in rules: what is passed to a function that is
// only known at run time is allocated for each evaluation.
func (k kind) evaluate(g *given, f *Finding) {
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

// given is what a verdict is found from.
type given struct {
	catalog *catalog.Catalog
	// addOn is the dependent.
	addOn string
	// Either edge or requirement is set.
	edge        *declaration.Edge
	requirement *declaration.Requirement
	state       *State
	budget      budget   // of the add-on's own expressions
	cluster     *Cluster // of the state
	// circles are those that alternatives of the add-on are on; nil: none.
	circles *circles
}

// Sentence describes an edge that is not satisfied: the proposal's text, the
// author's message and link, and the finding in parentheses.
func (f *Finding) Sentence(authorMessage string) string {
	sentence := f.rule().sentence(f)
	if authorMessage != "" {
		sentence += " " + authorMessage
	}
	return withDocs(sentence, f.Docs()) + " (" + f.Found() + ")"
}

// withDocs adds the link of a page to a sentence, which the author may have ended or not.
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

// Found describes what was found where an edge is not satisfied.
func (f *Finding) Found() string {
	found := f.overruled(f.tolerated(f.rule().found(f)))
	if f.Detail != nil && f.Detail.ConditionError != "" {
		found += "; " + text.Cut(text.OneLine(f.Detail.ConditionError), maxReason)
	}
	return found
}

func (f *Finding) rule() rule {
	if f.Due {
		return dueRule
	}
	if f.Dependency != nil && declaration.HasAlternatives(f.Dependency) && f.Verdict != Waived {
		// Not in rules: what was found of an alternative is found by the rule of its kind.
		return rule{sentence: anyOfSentence, found: anyOfFound}
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
	maxReason = 1024 // characters of a reason or an explanation
	maxShown  = 256  // characters of a range or a version
)

func shown(value string) string { return text.Cut(text.OneLine(value), maxShown) }

// joined adds the explanation to what was found; that it does not match goes
// without saying.
func joined(found, because string) string {
	if because == "" || because == versions.DoesNotMatch {
		return found
	}
	return found + ": " + because
}
