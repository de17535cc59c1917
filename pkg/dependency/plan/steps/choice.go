package steps

import (
	"fmt"
	"strings"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/text"
)

// addChoice adds an add-on that satisfies an edge on an API, or one with alternatives.
func (i *installing) addChoice(name string, finding *evaluation.Finding) bool {
	switch {
	case declaration.Target(finding.Dependency) != "" || finding.Verdict == evaluation.Cycle:
		return false
	case finding.Verdict != evaluation.NoAlternative && finding.Verdict != evaluation.APINotServed && finding.Verdict != evaluation.Held:
		return i.addSatisfying(name, finding)
	case declaration.HasAlternatives(finding.Dependency):
		return i.addAlternative(name, finding)
	default:
		return i.addProvider(name, finding)
	}
}

// addSatisfying adds the planned add-on that satisfies an edge, because its own dependencies count, too.
func (i *installing) addSatisfying(name string, finding *evaluation.Finding) bool {
	for _, end := range evaluation.Named(finding.Dependency) {
		for _, target := range i.evaluator.Satisfying(end.Dependency) {
			if i.isPlanned(target) && i.addOnce(target, name) {
				return true
			}
		}
	}
	return false
}

// addAlternative adds the first alternative that is registered, unless one is installed.
func (i *installing) addAlternative(name string, finding *evaluation.Finding) bool {
	ends := evaluation.Named(finding.Dependency)
	for end := range finding.Ends() {
		if end.Verdict == evaluation.VersionUnknown { // this alternative may satisfy the edge
			return i.addSatisfying(name, finding)
		}
	}
	var missing []string
	for n := range ends {
		providers := i.evaluator.Satisfying(ends[n].Dependency)
		if len(providers) == 1 && i.isPlanned(providers[0]) && ends[n].Dependency.API != nil {
			return i.addOnce(providers[0], name)
		}
		missing = append(missing, ends[n].Target())
	}
	for n := range ends {
		providers := i.evaluator.Satisfying(ends[n].Dependency)
		if len(providers) == 1 && i.evaluator.Registered(providers[0]) && !i.isPlanned(providers[0]) &&
			!i.isCircular(finding, ends[n].Target()) {
			return i.addOnce(providers[0], name)
		}
	}
	i.report(finding, fmt.Sprintf("'%s' needs one of %s: none is installed, and none of them can be",
		text.Name(name), strings.Join(missing, ", ")))
	return false
}

// isCircular reports whether an alternative waits for the add-on itself.
func (i *installing) isCircular(finding *evaluation.Finding, target string) bool {
	for end := range finding.Ends() {
		if end.Verdict == evaluation.Cycle && end.Target() == target {
			return true
		}
	}
	return false
}

// addProvider adds the only add-on that provides an API, unless a provider is installed.
func (i *installing) addProvider(name string, finding *evaluation.Finding) bool {
	dependent, api := text.Name(name), finding.Target()
	if declaration.ServedBy(finding.Dependency) != addonv1alpha1.APIServerManagedCluster {
		i.findings.Insert(fmt.Sprintf("'%s' needs API %s, and it is not known to be served; no add-on on this cluster can change that",
			dependent, api))
		return false
	}
	providers := i.evaluator.Satisfying(finding.Dependency)
	for _, provider := range providers {
		if i.isPlanned(provider) {
			return i.addOnce(provider, name)
		}
	}
	unknown := finding.Held() || finding.Detail != nil && finding.Detail.Unreported
	switch {
	case finding.Detail != nil && finding.Detail.Served:
		i.findings.Insert(fmt.Sprintf("'%s' needs API %s, whose schema lacks fields (%s)", dependent, api, finding.Reason()))
	case len(providers) == 1:
		return i.addOnce(providers[0], name)
	case len(providers) > 1:
		i.report(finding, fmt.Sprintf("'%s' needs API %s, which any of %s provides: name the one to install",
			dependent, api, text.Names(providers, ", ")))
	case unknown:
		i.findings.Insert(fmt.Sprintf("'%s' needs API %s, and it is not known whether that is served; no registered add-on provides it",
			dependent, api))
	default:
		i.report(finding, fmt.Sprintf("'%s' needs API %s, which is not served, and no registered add-on provides it", dependent, api))
	}
	return false
}
