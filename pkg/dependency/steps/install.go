package steps

import (
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/protection"
	"open-cluster-management.io/interlock/pkg/dependency/versions"
	"open-cluster-management.io/interlock/pkg/text"
)

// Installation is what a user wants to have installed.
type Installation struct {
	AddOns []string
	// Optional: Optional dependencies are installed, too.
	Optional bool
	// Wait: what is installed and not ready is waited for before what requires it is installed.
	Wait bool
	// Templates are the AddOnTemplates that add-ons run once they are installed, by add-on. What they declare counts.
	Templates map[string]versions.Templates
	// Unset is why add-ons get no settings that others request, by add-on.
	Unset map[string]string
}

// Install plans what is installed on managed clusters: the named add-ons, and all that they need and is not installed. What is
// installed is not touched.
func Install(declared *evaluation.Evaluator, wanted Installation, clusters []Cluster) *Plan {
	return merged(clusters, func(on Cluster) *onCluster { return install(declared, wanted, on) })
}

// installing is the plan of an installation on a managed cluster, while it is being made.
type installing struct {
	*onCluster
	declared *evaluation.Evaluator
	on       Cluster
	wanted   Installation
	// then is what will be installed and available: what is installed now, and what has a step.
	then map[string]evaluation.Observation
	// before is what is installed now, and is not being removed.
	before map[string]evaluation.Observation
	// reached are the named add-ons and all that they need, also what is installed already. Values are what is waited for.
	reached map[string][]string
}

func install(declared *evaluation.Evaluator, wanted Installation, on Cluster) *onCluster {
	i := &installing{
		onCluster: newOnCluster(), declared: declared, on: on, wanted: wanted,
		then: map[string]evaluation.Observation{}, reached: map[string][]string{},
	}
	if on.Lost() {
		i.problems.Insert("the managed cluster cannot be reached, so it is not known what is needed there")
		return i.onCluster
	}
	for name, observed := range on.AddOns {
		if observed.Installed && observed.Removed.IsZero() {
			i.then[name] = observed
		}
	}
	i.before = maps.Clone(i.then)
	before := settledFindings(declared, on, i.before)
	if i.on.Facts.Versions = maps.Clone(on.Facts.Versions); i.on.Facts.Versions == nil {
		i.on.Facts.Versions = map[string]evaluation.VersionFact{}
	}
	for _, name := range wanted.AddOns {
		if _, installed := i.then[name]; installed && !i.has(name) {
			i.findings.Insert(fmt.Sprintf("'%s' is installed already, and stays as it is", text.Name(name)))
		}
		i.add(name, "")
	}
	i.close()
	for name := range i.reached {
		if !declared.Known(name) {
			i.problems.Insert(fmt.Sprintf("it is not known what '%s' needs: its declaration cannot be used", text.Name(name)))
		}
	}
	i.contradict(before)
	i.ways()
	i.requireSettings()
	i.reportSettings()
	i.complete = i.onlyMissing()
	if wanted.Wait {
		i.waitForInstalled()
	}
	i.again()
	i.layers = layersOf(i.reached, i.has)
	return i.onCluster
}

// again gives what is installed already a step, where the cluster says so.
func (i *installing) again() {
	for name := range i.reached {
		if _, installed := i.before[name]; installed && !i.has(name) && i.on.Again.Has(name) {
			i.exist.Insert(name)
			i.need(name, "")
		}
	}
}

// add gives an add-on a step if it is not installed. dependent is what needs it; empty: it was named.
func (i *installing) add(addOn, dependent string) {
	if _, reached := i.reached[addOn]; !reached {
		i.reached[addOn] = nil
	}
	if _, there := i.then[addOn]; there && !i.has(addOn) {
		return
	}
	i.need(addOn, dependent)
	i.then[addOn] = evaluation.Observation{Name: addOn, Installed: true, Template: i.wanted.Templates[addOn], Available: &metav1.Condition{
		Type: addonv1alpha1.ManagedClusterAddOnConditionAvailable, Status: metav1.ConditionTrue,
	}}
	i.on.Facts.Versions[addOn] = evaluation.VersionFact{} // what its agent will report is not awaited
}

// close adds what is needed until nothing is missing. What can be chosen comes last: another add-on may need one of the
// choices anyway.
func (i *installing) close() {
	for again := true; again; {
		again = i.each(i.addMissing) || i.each(i.addChoice)
	}
	i.each(func(name string, finding *evaluation.Finding) bool {
		i.reached[name] = append(i.reached[name], waitsFor(i.declared, finding, i.isThere)...)
		return false
	})
}

// each calls a function with what the reached add-ons need once all is available. It stops where the function has added
// something, and reports that it has.
func (i *installing) each(call func(addOn string, finding *evaluation.Finding) bool) bool {
	for _, name := range slices.Sorted(maps.Keys(i.reached)) {
		findings := settledFinding(i.declared, i.on, i.then, name)
		for f := range findings {
			if i.counts(&findings[f]) && call(name, &findings[f]) {
				return true
			}
		}
	}
	return false
}

// counts reports whether what an edge needs is installed.
func (i *installing) counts(finding *evaluation.Finding) bool {
	if finding.Dependency == nil || finding.Verdict == evaluation.NotApplicable || finding.Verdict == evaluation.Waived {
		return false
	}
	kind := finding.Type()
	return kind == addonv1alpha1.DependencyTypeRequired || i.wanted.Optional && kind == addonv1alpha1.DependencyTypeOptional
}

// addMissing adds the add-on that an edge is on, installed or not.
func (i *installing) addMissing(name string, finding *evaluation.Finding) bool {
	target := declaration.Target(finding.Dependency)
	if target == "" || finding.Verdict == evaluation.Cycle {
		return false
	}
	if !i.declared.Registered(target) && !i.isThere(target) {
		i.report(finding, fmt.Sprintf("'%s' needs '%s', which has no ClusterManagementAddOn on this hub", text.Name(name), text.Name(target)))
		return false
	}
	return i.reach(target, name)
}

// reach adds an add-on, and reports whether it was not there.
func (i *installing) reach(target, dependent string) bool {
	_, before := i.reached[target]
	i.add(target, dependent)
	return !before
}

func (i *installing) isThere(addOn string) bool {
	_, is := i.then[addOn]
	return is
}

// report adds a sentence: a problem, unless the add-on works without what it is about.
func (i *installing) report(finding *evaluation.Finding, sentence string) {
	if finding.Blocks() {
		i.problems.Insert(sentence)
	} else {
		i.findings.Insert(sentence)
	}
}

// contradict adds what waiting cannot fix, on what is installed and what has a step.
func (i *installing) contradict(before map[string][]evaluation.Finding) {
	after := settledFindings(i.declared, i.on, i.then)
	for addOn, findings := range protection.Contradictions(before, after) {
		for f := range findings {
			sentence := fmt.Sprintf("'%s' %s", text.Name(addOn), protection.Needs(findings[f]))
			if findings[f].Verdict != evaluation.Cycle { // which says it all
				sentence += " (" + findings[f].Found() + ")"
			}
			i.problems.Insert(sentence)
		}
	}
}

// settledFindings are the verdicts on the edges of add-ons, if they are all that is installed, and available.
func settledFindings(
	declared *evaluation.Evaluator, on Cluster, installed map[string]evaluation.Observation,
) map[string][]evaluation.Finding {
	all := make(map[string][]evaluation.Finding, len(installed))
	for name := range installed {
		all[name] = settledFinding(declared, on, installed, name)
	}
	return all
}

func settledFinding(
	declared *evaluation.Evaluator, on Cluster, installed map[string]evaluation.Observation, addOn string,
) []evaluation.Finding {
	state := declared.State(addOn, on.Cluster.Cluster, func(name string) evaluation.Observation { return installed[name] })
	return declared.Evaluate(addOn, protection.Settle(state, ""))
}
