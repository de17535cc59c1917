package facts

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"open-cluster-management.io/interlock/pkg/agent/leases"
	"open-cluster-management.io/interlock/pkg/agent/served"
	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/availability"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// found is what is known of the managed cluster.
type found struct {
	// agent is the ManagedClusterAddOn that the agent itself is.
	agent string
	// group returns what is known of an API group.
	group func(name string) served.Group
	// version returns what is known of an add-on's version; false where the
	// hub has no such add-on for this cluster.
	version func(addOn string) (leases.Version, bool)
}

// answer decides the status from the questions and what is known, and reports
// whether each question has an answer. What was answered before stays where
// nothing is known now: a managed cluster that is away has not changed.
func answer(facts *dependencyv1alpha1.ManagedClusterFacts, known found) (dependencyv1alpha1.ManagedClusterFactsStatus, bool) {
	status := dependencyv1alpha1.ManagedClusterFactsStatus{ObservedGeneration: facts.Generation, AgentAddOn: known.agent}
	complete := true
	for _, api := range facts.Spec.APIs {
		fact, ok := apiFact(api, known.group(api.Group))
		if !ok {
			complete = false
			at := slices.IndexFunc(facts.Status.APIs, func(f dependencyv1alpha1.APIFact) bool { return f.API == api })
			if at < 0 {
				continue
			}
			fact = facts.Status.APIs[at]
		}
		status.APIs = append(status.APIs, fact)
	}
	for _, addOn := range facts.Spec.AddOns {
		version, installed := known.version(addOn.Name)
		fact, ok := addOnFact(addOn, version, installed)
		if !ok {
			complete = false
			at := slices.IndexFunc(facts.Status.AddOns, func(f dependencyv1alpha1.AddOnFact) bool { return f.AddOn == addOn })
			if at < 0 {
				continue
			}
			fact = facts.Status.AddOns[at]
		}
		status.AddOns = append(status.AddOns, fact)
	}
	if !complete {
		status.ObservedGeneration = min(facts.Status.ObservedGeneration, facts.Generation)
	}
	summarize(&status, facts.Spec)
	return status, complete
}

// apiFact tells of one API what is known of its group; false: not yet.
func apiFact(api dependencyv1alpha1.API, group served.Group) (dependencyv1alpha1.APIFact, bool) {
	fact := dependencyv1alpha1.APIFact{API: api}
	fact.Versions = group.Kinds[api.Kind]
	if len(fact.Versions) > dependencyv1alpha1.MaxVersions {
		fact.Versions = fact.Versions[:dependencyv1alpha1.MaxVersions]
	}
	unanswered := unansweredVersions(api, group)
	switch {
	case !group.Known:
		return fact, false
	case group.Forbidden != "":
		fact.Served, fact.Reason, fact.Message = metav1.ConditionUnknown, dependencyv1alpha1.ReasonForbidden, bounded(group.Forbidden)
	case api.Version == "" && len(fact.Versions) > 0, slices.Contains(group.Kinds[api.Kind], api.Version):
		fact.Served = metav1.ConditionTrue
	case len(unanswered) > 0:
		fact.Served, fact.Reason = metav1.ConditionUnknown, dependencyv1alpha1.ReasonDiscoveryFailed
		fact.Message = bounded(strings.Join(unanswered, "; "))
	default:
		fact.Served = metav1.ConditionFalse
	}
	return fact, true
}

// unansweredVersions says, sorted, which versions of the group could serve the
// API as well, if it could be found out.
func unansweredVersions(api dependencyv1alpha1.API, group served.Group) []string {
	var unanswered []string
	for version, cause := range group.Failures {
		if api.Version == "" || api.Version == version {
			unanswered = append(unanswered, fmt.Sprintf("discovery of %s failed: %s", groupVersion(api.Group, version), cause))
		}
	}
	slices.Sort(unanswered)
	return unanswered
}

// addOnFact tells of one add-on what its lease says; false: nothing yet.
func addOnFact(addOn dependencyv1alpha1.AddOn, version leases.Version, installed bool) (dependencyv1alpha1.AddOnFact, bool) {
	fact := dependencyv1alpha1.AddOnFact{AddOn: addOn}
	because := func(reason dependencyv1alpha1.FactReason, message string) (dependencyv1alpha1.AddOnFact, bool) {
		fact.Reason, fact.Message = reason, bounded(message)
		return fact, true
	}
	switch {
	case !installed:
		return because(dependencyv1alpha1.ReasonNotInstalled, "the add-on is not installed on this cluster")
	case version.State == availability.LeaseUnobserved:
		return fact, false
	case version.State == availability.LeaseNotFound:
		return because(dependencyv1alpha1.ReasonLeaseNotFound, "the add-on has no lease")
	case version.Reported == "":
		return because(dependencyv1alpha1.ReasonVersionNotReported,
			"the add-on's lease has no annotation "+addonv1alpha1.AddOnVersionAnnotation)
	case !printable(version.Reported):
		return because(dependencyv1alpha1.ReasonVersionUnusable, fmt.Sprintf(
			"the annotation %s of the add-on's lease is not a version: at most %d printable characters without blanks",
			annotationOf(version), dependencyv1alpha1.MaxVersionLength))
	}
	fact.Version, fact.FormerAnnotation = version.Reported, version.Former
	return fact, true
}

// annotationOf is the annotation under which the lease has the version.
func annotationOf(version leases.Version) string {
	if version.Former {
		return addonv1alpha1.FormerVersionAnnotation
	}
	return addonv1alpha1.AddOnVersionAnnotation
}

// summarize counts what is good news, for the columns of a table.
func summarize(status *dependencyv1alpha1.ManagedClusterFactsStatus, asked dependencyv1alpha1.ManagedClusterFactsSpec) {
	apis, versions := 0, 0
	for _, fact := range status.APIs {
		if fact.Served == metav1.ConditionTrue {
			apis++
		}
	}
	for _, fact := range status.AddOns {
		if fact.Version != "" {
			versions++
		}
	}
	if len(asked.APIs) > 0 {
		status.APIsServed = fmt.Sprintf("%d/%d", apis, len(asked.APIs))
	}
	if len(asked.AddOns) > 0 {
		status.VersionsKnown = fmt.Sprintf("%d/%d", versions, len(asked.AddOns))
	}
}

// printable reports whether an annotation can be a version at all; which
// versions there are is for whoever compares them to say.
func printable(text string) bool {
	return utf8.ValidString(text) && utf8.RuneCountInString(text) <= dependencyv1alpha1.MaxVersionLength &&
		!strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) || unicode.IsSpace(r) })
}

// bounded keeps a message within what the schema takes.
func bounded(text string) string {
	runes := []rune(strings.ToValidUTF8(text, "\uFFFD"))
	if len(runes) <= dependencyv1alpha1.MaxMessageLength {
		return string(runes)
	}
	return string(runes[:dependencyv1alpha1.MaxMessageLength-1]) + "…"
}

func groupVersion(group, version string) string {
	if group == "" {
		return version
	}
	return group + "/" + version
}
