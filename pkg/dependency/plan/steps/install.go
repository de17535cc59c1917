package steps

import (
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/condition/protection"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/versions"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/text"
)

// Installation is a user's request to install add-ons.
type Installation struct {
	AddOns []string
	// Optional is whether Optional dependencies are installed, too.
	Optional bool
	// Wait is whether an add-on waits for its dependencies that are installed already and not ready.
	Wait bool
	// Templates are the AddOnTemplates that add-ons run once they are installed, by add-on. The plan follows their declarations.
	Templates map[string]versions.Templates
	// Unset has the reason why an add-on gets no settings that others request, by add-on.
	Unset map[string]string
}

// Install plans the installation of the named add-ons and of their missing dependencies. Installed add-ons are not touched.
func Install(evaluator *evaluation.Evaluator, request Installation, clusters []Cluster) *Plan {
	return mergePlans(clusters, func(cluster Cluster) *clusterPlan { return install(evaluator, request, cluster) })
}

// installing builds the plan of an installation on one managed cluster.
type installing struct {
	*clusterPlan
	evaluator *evaluation.Evaluator
	cluster   Cluster
	request   Installation
	// planned are the add-ons that are installed now or have a step. Those with a step count as available.
	planned map[string]evaluation.Observation
	// installed are the add-ons that are installed now and not being deleted.
	installed map[string]evaluation.Observation
	// awaited has a key for each named add-on and each direct or indirect dependency, also for installed ones. The values are the
	// add-ons that it waits for.
	awaited map[string][]string
}

func install(evaluator *evaluation.Evaluator, request Installation, cluster Cluster) *clusterPlan {
	i := &installing{
		clusterPlan: newClusterPlan(), evaluator: evaluator, cluster: cluster, request: request,
		planned: map[string]evaluation.Observation{}, awaited: map[string][]string{},
	}
	if cluster.Lost() {
		i.problems.Insert("the managed cluster cannot be reached, so it is not known what is needed there")
		return i.clusterPlan
	}
	for name, observed := range cluster.AddOns {
		if observed.Installed && observed.Removed.IsZero() {
			i.planned[name] = observed
		}
	}
	i.installed = maps.Clone(i.planned)
	before := settleAll(evaluator, cluster, i.installed)
	i.cluster.Facts.Versions = maps.Clone(cluster.Facts.Versions)
	if i.cluster.Facts.Versions == nil {
		i.cluster.Facts.Versions = map[string]evaluation.VersionFact{}
	}
	for _, name := range request.AddOns {
		if _, installed := i.planned[name]; installed && !i.hasStep(name) {
			i.findings.Insert(fmt.Sprintf("'%s' is installed already, and stays as it is", text.Name(name)))
		}
		i.add(name, "")
	}
	i.addDependencies()
	for name := range i.awaited {
		if !evaluator.Valid(name) {
			i.problems.Insert(fmt.Sprintf("it is not known what '%s' needs: its declaration cannot be used", text.Name(name)))
		}
	}
	i.reportContradictions(before)
	i.chooseInstallers()
	i.requireSettings()
	i.reportSettings()
	if request.Wait {
		i.waitForInstalled()
	} else {
		i.reportAwaited()
	}
	i.repeat()
	i.layers = layersOf(i.awaited, i.hasStep)
	return i.clusterPlan
}

// repeat gives a step to each needed add-on that is installed already and that Cluster.Again lists.
func (i *installing) repeat() {
	for name := range i.awaited {
		if _, installed := i.installed[name]; installed && !i.hasStep(name) && i.cluster.Again.Has(name) {
			i.exist.Insert(name)
			i.addStep(name, "")
		}
	}
}

// add gives an add-on a step if it is not installed. dependent is the add-on that needs it, or empty if the
// user named the add-on.
func (i *installing) add(addOn, dependent string) {
	if _, ok := i.awaited[addOn]; !ok {
		i.awaited[addOn] = nil
	}
	if _, ok := i.planned[addOn]; ok && !i.hasStep(addOn) {
		return
	}
	i.addStep(addOn, dependent)
	i.planned[addOn] = evaluation.Observation{Name: addOn, Installed: true, Template: i.request.Templates[addOn], Available: &metav1.Condition{
		Type: addonv1alpha1.ManagedClusterAddOnConditionAvailable, Status: metav1.ConditionTrue,
	}}
	i.cluster.Facts.Versions[addOn] = evaluation.VersionFact{} // the plan does not wait for the report of its agent
}

// addDependencies adds dependencies until none is missing. Edges with a choice come last, because another add-on may need one of the
// choices anyway.
func (i *installing) addDependencies() {
	for i.each(i.addMissing) || i.each(i.addChoice) {
		continue
	}
	i.each(func(name string, finding *evaluation.Finding) bool {
		i.awaited[name] = append(i.awaited[name], awaitedBy(i.evaluator, finding, i.isPlanned)...)
		return false
	})
}

// each calls a function with the findings on the dependencies that the plan has to satisfy, evaluated as if all planned add-ons were
// available. It stops and returns true as soon as the function has added an add-on.
func (i *installing) each(call func(addOn string, finding *evaluation.Finding) bool) bool {
	for _, name := range slices.Sorted(maps.Keys(i.awaited)) {
		findings := settle(i.evaluator, i.cluster, i.planned, name)
		for f := range findings {
			if i.mustSatisfy(&findings[f]) && call(name, &findings[f]) {
				return true
			}
		}
	}
	return false
}

// mustSatisfy reports whether the plan has to satisfy the edge.
func (i *installing) mustSatisfy(finding *evaluation.Finding) bool {
	if finding.Dependency == nil || finding.Verdict == evaluation.NotApplicable || finding.Verdict == evaluation.Waived {
		return false
	}
	kind := finding.Type()
	return kind == addonv1alpha1.DependencyTypeRequired || i.request.Optional && kind == addonv1alpha1.DependencyTypeOptional
}

// addMissing adds the target of an edge, installed or not.
func (i *installing) addMissing(name string, finding *evaluation.Finding) bool {
	target := declaration.Target(finding.Dependency)
	if target == "" || finding.Verdict == evaluation.Cycle {
		return false
	}
	if !i.evaluator.Registered(target) && !i.isPlanned(target) {
		i.report(finding, fmt.Sprintf("'%s' needs '%s', which has no ClusterManagementAddOn on this hub", text.Name(name), text.Name(target)))
		return false
	}
	return i.addOnce(target, name)
}

// addOnce adds an add-on, and reports whether the plan did not have it before.
func (i *installing) addOnce(target, dependent string) bool {
	_, ok := i.awaited[target]
	i.add(target, dependent)
	return !ok
}

func (i *installing) isPlanned(addOn string) bool {
	_, ok := i.planned[addOn]
	return ok
}

// report adds a sentence. It is a problem if the edge blocks the add-on, and otherwise a finding.
func (i *installing) report(finding *evaluation.Finding, sentence string) {
	if finding.Blocks() {
		i.problems.Insert(sentence)
	} else {
		i.findings.Insert(sentence)
	}
}

// reportContradictions adds a problem for each new contradiction between the planned add-ons. Waiting does not fix it.
func (i *installing) reportContradictions(before map[string][]evaluation.Finding) {
	after := settleAll(i.evaluator, i.cluster, i.planned)
	for addOn, findings := range protection.Contradictions(before, after) {
		for f := range findings {
			sentence := fmt.Sprintf("'%s' %s", text.Name(addOn), protection.Needs(findings[f]))
			if findings[f].Verdict != evaluation.Cycle { // its text is complete
				sentence += " (" + findings[f].Reason() + ")"
			}
			i.problems.Insert(sentence)
		}
	}
}

// settleAll returns the findings on the edges of the add-ons, evaluated as if these add-ons were installed and available, and no others.
func settleAll(
	evaluator *evaluation.Evaluator, cluster Cluster, installed map[string]evaluation.Observation,
) map[string][]evaluation.Finding {
	findings := make(map[string][]evaluation.Finding, len(installed))
	for name := range installed {
		findings[name] = settle(evaluator, cluster, installed, name)
	}
	return findings
}

// settle returns the findings on the edges of one add-on; see settleAll.
func settle(
	evaluator *evaluation.Evaluator, cluster Cluster, installed map[string]evaluation.Observation, addOn string,
) []evaluation.Finding {
	state := evaluator.State(addOn, cluster.Cluster.Cluster, func(name string) evaluation.Observation { return installed[name] })
	return evaluator.Evaluate(addOn, protection.Settle(state, ""))
}
