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
		return i.reachThrough(name, finding)
	case declaration.HasAlternatives(finding.Dependency):
		return i.addAlternative(name, finding)
	default:
		return i.addProvider(name, finding)
	}
}

// reachThrough reaches what satisfies an edge, because that may need something itself.
func (i *installing) reachThrough(name string, finding *evaluation.Finding) (added bool) {
	for _, end := range evaluation.Named(finding.Dependency) {
		for _, target := range i.declared.Satisfying(end.Dependency) {
			if i.isThere(target) && i.reach(target, name) {
				return true
			}
		}
	}
	return false
}

// addAlternative adds the first alternative that is registered, unless one is installed.
func (i *installing) addAlternative(name string, finding *evaluation.Finding) bool {
	named := evaluation.Named(finding.Dependency)
	for end := range finding.Ends() {
		if end.Verdict == evaluation.VersionUnknown { // it may do
			return i.reachThrough(name, finding)
		}
	}
	var missing []string
	for n := range named {
		providers := i.declared.Satisfying(named[n].Dependency)
		if len(providers) == 1 && i.isThere(providers[0]) && named[n].Dependency.API != nil {
			return i.reach(providers[0], name)
		}
		missing = append(missing, named[n].Target())
	}
	for n := range named {
		providers := i.declared.Satisfying(named[n].Dependency)
		if len(providers) == 1 && i.declared.Registered(providers[0]) && !i.isThere(providers[0]) && !i.isCircular(finding, named[n].Target()) {
			return i.reach(providers[0], name)
		}
	}
	i.report(finding, fmt.Sprintf("'%s' needs one of %s: none is installed, and none of them can be", text.Name(name), strings.Join(missing, ", ")))
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

// addProvider adds the only add-on that provides an API, unless one is installed that does.
func (i *installing) addProvider(name string, finding *evaluation.Finding) bool {
	of, what := text.Name(name), finding.Target()
	if declaration.ServedBy(finding.Dependency) != addonv1alpha1.APIServerManagedCluster {
		i.findings.Insert(fmt.Sprintf("'%s' needs API %s, and it is not known to be served; no add-on on this cluster can change that", of, what))
		return false
	}
	providers := i.declared.Satisfying(finding.Dependency)
	for _, provider := range providers {
		if i.isThere(provider) {
			return i.reach(provider, name)
		}
	}
	unknown := finding.Held() || finding.Detail != nil && finding.Detail.Unreported
	switch {
	case finding.Detail != nil && finding.Detail.Served:
		i.findings.Insert(fmt.Sprintf("'%s' needs API %s, whose schema lacks fields (%s)", of, what, finding.Found()))
	case len(providers) == 1:
		return i.reach(providers[0], name)
	case len(providers) > 1:
		i.report(finding, fmt.Sprintf("'%s' needs API %s, which any of %s provides: name the one to install", of, what, text.Names(providers, ", ")))
	case unknown:
		i.findings.Insert(fmt.Sprintf("'%s' needs API %s, and it is not known whether that is served; no registered add-on provides it", of, what))
	default:
		i.report(finding, fmt.Sprintf("'%s' needs API %s, which is not served, and no registered add-on provides it", of, what))
	}
	return false
}
