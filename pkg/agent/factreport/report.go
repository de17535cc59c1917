package factreport

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"open-cluster-management.io/interlock/pkg/agent/leases"
	"open-cluster-management.io/interlock/pkg/agent/objectcount"
	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/availability"
	"open-cluster-management.io/interlock/pkg/kube/apidiscovery"
	"open-cluster-management.io/interlock/pkg/text"
)

// observation is the state of the managed cluster as far as the agent has observed it.
type observation struct {
	// agentAddOn is the ManagedClusterAddOn of the agent itself. It is empty if there is none.
	agentAddOn string
	// groups are the API groups, by name.
	groups map[string]apidiscovery.Group
	// versions are the versions that the leases report, by add-on. An add-on that is not installed has no entry.
	versions map[string]leases.Version
	// counts are the numbers of objects, by kind. A kind that has not been counted has no entry.
	counts map[dependencyv1alpha1.ObjectKind]objectcount.Count
}

// report returns the status for the requested facts, and whether each requested fact is known. A fact that was reported before and
// is unknown now keeps its value: a managed cluster that does not respond has not changed.
func report(facts *dependencyv1alpha1.ManagedClusterFacts, observation observation) (dependencyv1alpha1.ManagedClusterFactsStatus, bool) {
	status := dependencyv1alpha1.ManagedClusterFactsStatus{ObservedGeneration: facts.Generation, AgentAddOn: observation.agentAddOn}
	complete := true
	for _, api := range facts.Spec.APIs {
		fact, ok := observation.groups[api.Group].Fact(api)
		if !ok {
			complete = false
			fact, ok = find(facts.Status.APIs, func(f dependencyv1alpha1.APIFact) bool { return f.API == api.API })
		}
		if ok {
			status.APIs = append(status.APIs, fact)
		}
	}
	for _, addOn := range facts.Spec.AddOns {
		version, installed := observation.versions[addOn.Name]
		fact, ok := addOnFact(addOn, version, installed)
		if !ok {
			complete = false
			fact, ok = find(facts.Status.AddOns, func(f dependencyv1alpha1.AddOnFact) bool { return f.AddOn == addOn })
		}
		if ok {
			status.AddOns = append(status.AddOns, fact)
		}
	}
	for _, kind := range facts.Spec.Objects {
		fact, ok := objectsFact(kind, observation)
		if !ok {
			complete = false
			fact, ok = find(facts.Status.Objects, func(f dependencyv1alpha1.ObjectsFact) bool { return f.ObjectKind == kind })
		}
		if ok {
			status.Objects = append(status.Objects, fact)
		}
	}
	if !complete {
		status.ObservedGeneration = min(facts.Status.ObservedGeneration, facts.Generation)
	}
	served := func(f dependencyv1alpha1.APIFact) bool { return f.Served == metav1.ConditionTrue }
	versionKnown := func(f dependencyv1alpha1.AddOnFact) bool { return f.Version != "" }
	status.APIsServed = share(status.APIs, len(facts.Spec.APIs), served)
	status.VersionsKnown = share(status.AddOns, len(facts.Spec.AddOns), versionKnown)
	return status, complete
}

func find[Fact any](facts []Fact, matches func(Fact) bool) (Fact, bool) {
	if i := slices.IndexFunc(facts, matches); i >= 0 {
		return facts[i], true
	}
	var missing Fact
	return missing, false
}

// addOnFact returns the fact on one add-on. The second result is false while the fact is unknown.
func addOnFact(addOn dependencyv1alpha1.AddOn, version leases.Version, installed bool) (dependencyv1alpha1.AddOnFact, bool) {
	fact := dependencyv1alpha1.AddOnFact{AddOn: addOn}
	unknown := func(reason dependencyv1alpha1.FactReason, message string) (dependencyv1alpha1.AddOnFact, bool) {
		fact.Reason, fact.Message = reason, bounded(message)
		return fact, true
	}
	switch {
	case !installed:
		return unknown(dependencyv1alpha1.ReasonNotInstalled, "the add-on is not installed on this cluster")
	case version.State == availability.LeaseUnobserved:
		return fact, false
	case version.State == availability.LeaseNotFound:
		return unknown(dependencyv1alpha1.ReasonLeaseNotFound, "the add-on has no lease")
	case version.Reported == "":
		return unknown(dependencyv1alpha1.ReasonVersionNotReported,
			"the add-on's lease has no annotation "+addonv1alpha1.AddOnVersionAnnotation)
	case !printable(version.Reported):
		return unknown(dependencyv1alpha1.ReasonVersionUnusable, fmt.Sprintf(
			"the annotation %s of the add-on's lease is not a version: at most %d printable characters without blanks",
			annotationOf(version), dependencyv1alpha1.MaxVersionLength))
	}
	fact.Version, fact.FormerAnnotation = version.Reported, version.Former
	return fact, true
}

// annotationOf returns the annotation of the lease that has the version.
func annotationOf(version leases.Version) string {
	if version.Former {
		return addonv1alpha1.FormerVersionAnnotation
	}
	return addonv1alpha1.AddOnVersionAnnotation
}

// share returns how many of the requested facts are counted, for the columns of kubectl get. It is empty if no fact is requested.
func share[Fact any](facts []Fact, requested int, counts func(Fact) bool) string {
	if requested == 0 {
		return ""
	}
	counted := 0
	for _, fact := range facts {
		if counts(fact) {
			counted++
		}
	}
	return fmt.Sprintf("%d/%d", counted, requested)
}

// printable reports whether an annotation can be a version at all. addon-manager, which
// compares versions, decides whether it is a valid one.
func printable(version string) bool {
	return utf8.ValidString(version) && utf8.RuneCountInString(version) <= dependencyv1alpha1.MaxVersionLength &&
		!strings.ContainsFunc(version, func(r rune) bool { return !unicode.IsPrint(r) || unicode.IsSpace(r) })
}

// bounded cuts a message to the length that the schema allows.
func bounded(message string) string {
	return text.Cut(strings.ToValidUTF8(message, "\uFFFD"), dependencyv1alpha1.MaxMessageLength)
}
