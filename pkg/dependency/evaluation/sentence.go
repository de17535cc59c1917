package evaluation

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/versions"
	"open-cluster-management.io/interlock/pkg/text"
)

const (
	maxReason = 1024 // characters of a reason or an explanation
	maxShown  = 256  // characters of a range or a version
)

// Sentence describes an edge that is not satisfied: the proposal's text, the
// author's message, and the finding in parentheses.
func (f Finding) Sentence(authorMessage string) string {
	sentence := f.sentenceBeyond()
	if sentence == "" {
		sentence = fmt.Sprintf("%s addon '%s' is not installed or not available.", f.Dependency.Type, text.Name(declaration.Target(f.Dependency)))
	}
	if authorMessage != "" {
		sentence += " " + authorMessage
	}
	found := f.found()
	if f.Detail != nil && f.Detail.ConditionError != "" {
		found += "; " + text.Cut(text.OneLine(f.Detail.ConditionError), maxReason)
	}
	return sentence + " (" + found + ")"
}

func (f Finding) found() string {
	switch f.Verdict {
	case NotInstalled:
		return "not installed"
	case Cycle:
		return catalog.CycleText(f.Cycle)
	case VersionMismatch, VersionUnknown, APINotServed, RequirementNotMet:
		return f.findingBeyond()
	default:
		switch {
		case f.Degraded != nil:
			return conditionText(addonv1alpha1.ManagedClusterAddOnConditionDegraded, f.Degraded)
		case f.Available != nil:
			return conditionText(addonv1alpha1.ManagedClusterAddOnConditionAvailable, f.Available)
		default:
			return "Available not reported yet"
		}
	}
}

func conditionText(kind string, condition *metav1.Condition) string {
	described := kind + "=" + string(condition.Status)
	if condition.Reason != "" {
		described += ", " + text.Cut(text.OneLine(condition.Reason), maxReason)
	}
	if !condition.LastTransitionTime.IsZero() {
		described += ", since " + condition.LastTransitionTime.UTC().Format(time.RFC3339)
	}
	return described
}

// sentenceBeyond words an edge of which the proposal does not speak, without
// the author's message and the finding. It is empty for the others.
func (f *Finding) sentenceBeyond() string {
	edge := f.Dependency
	wanted := shown(edge.Version)
	switch {
	case f.Detail != nil && f.Detail.Requirement != "":
		return fmt.Sprintf("%s %s '%s' is not met.", edge.Type, f.Detail.Requirement, wanted)
	case f.Verdict == APINotServed:
		return fmt.Sprintf("%s API '%s' is not served.", edge.Type, shown(apiName(*edge.API)))
	case f.Verdict != VersionMismatch && f.Verdict != VersionUnknown:
		return ""
	case edge.Type == addonv1alpha1.DependencyTypeIfInstalled:
		return fmt.Sprintf("Addon '%s' is installed, but not in version '%s'.", text.Name(declaration.Target(edge)), wanted)
	default:
		return fmt.Sprintf("%s addon '%s' is not installed or not available in version '%s'.", edge.Type, text.Name(declaration.Target(edge)), wanted)
	}
}

// findingBeyond words what was found, for the parentheses.
func (f *Finding) findingBeyond() string {
	detail := f.detail()
	found := detail.Version.Number
	switch {
	case f.Verdict == APINotServed:
		described := text.Cut(text.OneLine(detail.Because), maxReason)
		if len(detail.Providers) > 0 {
			described += "; provided by addon " + text.Names(detail.Providers, " or ")
		}
		return described
	case detail.Requirement != "" && found == "":
		return detail.Because
	case detail.Requirement != "":
		return joined("it is "+shown(found), detail.Because)
	case found == "":
		return joined("version not known", detail.Because)
	default:
		described := joined(fmt.Sprintf("version %s from %s", shown(found), detail.Version.Source), detail.Because)
		if detail.Version.RollingOut != "" {
			described += fmt.Sprintf("; %s is being rolled out", shown(detail.Version.RollingOut))
		}
		return described
	}
}

// joined adds why to what was found; that it does not match goes without saying.
func joined(found, because string) string {
	if because == "" || because == versions.DoesNotMatch {
		return found
	}
	return found + ": " + because
}

func shown(value string) string { return text.Cut(text.OneLine(value), maxShown) }

// apiName is Kind.group/version, as far as they are given.
func apiName(api addonv1alpha1.AddonAPI) string {
	name := api.Kind
	if api.Group != "" {
		name += "." + api.Group
	}
	if api.Version != "" {
		name += "/" + api.Version
	}
	return name
}
