package report

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/condition"
	"open-cluster-management.io/interlock/pkg/dependency/condition/whatif"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation/cause"
	"open-cluster-management.io/interlock/pkg/fleet"
)

type (
	// DependencyReport is the report on the edges of a managed cluster. addon-manager writes it to the hub, and the plugin prints it.
	DependencyReport = dependencyv1alpha1.AddOnDependencyReport
	reportedEdge     = dependencyv1alpha1.ReportedEdge
	rootCause        = dependencyv1alpha1.ReportedCause
)

// Cluster is a managed cluster with the verdicts on its edges.
type Cluster struct {
	whatif.Cluster
	// Waiting are the installations and upgrades that wait for dependencies, ordered by the names of the add-ons.
	Waiting   []fleet.Waiting
	evaluator *whatif.Evaluation
	findings  map[string][]evaluation.Finding
}

// EvaluateCluster finds the verdicts on the edges of all add-ons on a managed cluster. They are the verdicts once all conditions have
// been updated.
func EvaluateCluster(evaluator *whatif.Evaluation, cluster whatif.Cluster) *Cluster {
	return &Cluster{Cluster: cluster, evaluator: evaluator, findings: evaluator.Findings(cluster)}
}

// KeepsLast reports whether a report keeps an entry of the last report. It does for a verdict that is held, or whose explanation
// could not be read yet.
func (c *Cluster) KeepsLast() bool {
	for _, findings := range c.findings {
		if slices.ContainsFunc(findings, func(f evaluation.Finding) bool { return f.Held() || f.Unexplained() }) {
			return true
		}
	}
	return false
}

// Report returns the report with the edges of the given scope. It is nil if there are none. stored is the report on the hub, or
// nil.
func (c *Cluster) Report(scope dependencyv1alpha1.ReportScope, stored *DependencyReport) *DependencyReport {
	r := &clusterReport{Cluster: c, causes: map[string][]rootCause{}}
	for _, addOn := range slices.Sorted(maps.Keys(c.findings)) {
		r.addEdges(addOn, stored)
	}
	if scope == dependencyv1alpha1.ReportUnsatisfied {
		r.edges = slices.DeleteFunc(r.edges, func(e reportEntry) bool { return !unsatisfied(e.Verdict) && !isTemporary(e.Verdict) })
	}
	slices.SortStableFunc(r.edges, func(a, b reportEntry) int { return cmp.Compare(a.rank(), b.rank()) })
	pending, waits := r.pending(), r.waits(stored)
	if len(r.edges)+len(pending)+len(waits) == 0 {
		return nil
	}
	report := &DependencyReport{
		TypeMeta:   metav1.TypeMeta{APIVersion: APIVersion, Kind: dependencyv1alpha1.ReportKind.Kind},
		ObjectMeta: metav1.ObjectMeta{Namespace: c.Name, Name: c.Name},
		Scope:      scope, Summary: r.summary(), Waiting: waits, Pending: pending, NeededBy: r.neededBy(),
	}
	report.Summary.Pending, report.Summary.Waiting = count(pending), count(waits)
	for _, e := range r.edges {
		report.Edges = append(report.Edges, e.reportedEdge)
	}
	bound(report)
	return report
}

// clusterReport is a report under construction.
type clusterReport struct {
	*Cluster
	edges []reportEntry
	// causes are the root causes of add-ons, by their names.
	causes map[string][]rootCause
}

// reportEntry is an entry of a report, with the finding that it shows.
type reportEntry struct {
	reportedEdge
	finding *evaluation.Finding
}

// rank orders entries. Edges that keep an add-on from working come first.
func (e reportEntry) rank() int {
	switch {
	case e.Held:
		return 2
	case !unsatisfied(e.Verdict):
		return 3
	case !e.finding.Blocks():
		return 1
	default:
		return 0
	}
}

// isTemporary reports whether the edge may become unsatisfied at a time that is known already.
func isTemporary(verdict string) bool {
	return verdict == string(evaluation.Tolerated) || verdict == string(evaluation.Waived)
}

func unsatisfied(verdict string) bool {
	return evaluation.Verdict(verdict).Unsatisfied()
}

// addEdges adds the edges of an add-on. An edge whose verdict is held keeps its stored entry. If the declaration of the add-on is
// not known, all of its entries are kept.
func (r *clusterReport) addEdges(addOn string, stored *DependencyReport) {
	for i := range r.findings[addOn] {
		finding := &r.findings[addOn][i]
		entry := r.entry(addOn, finding)
		if finding.Unexplained() {
			if last := entriesOf(stored, entry.AddOn, entry.Dependency); len(last) > 0 && last[0].Verdict == entry.Verdict {
				entry.Found = last[0].Found
			}
		}
		if !finding.Held() {
			r.edges = append(r.edges, reportEntry{entry, finding})
			continue
		}
		entry.Held, entry.Found = true, sentence(finding.HeldBecause())
		last := entriesOf(stored, entry.AddOn, entry.Dependency)
		if len(last) == 0 {
			last = []reportedEdge{entry}
		}
		for _, kept := range last {
			kept.Held = true
			r.edges = append(r.edges, reportEntry{kept, finding})
		}
	}
}

// entriesOf returns the entries of an edge in a report. Without a name, it returns the entries of all edges of the add-on.
func entriesOf(report *DependencyReport, addOn, dependency string) []reportedEdge {
	if report == nil {
		return nil
	}
	var entries []reportedEdge
	for i := range report.Edges {
		if e := &report.Edges[i]; e.AddOn == addOn && (dependency == "" || e.Dependency == dependency) {
			entries = append(entries, *e)
		}
	}
	return entries
}

// entry returns a finding as an entry of a report.
func (r *clusterReport) entry(addOn string, finding *evaluation.Finding) reportedEdge {
	entry := reportedEdge{
		AddOn: name(addOn), Dependency: name(finding.Name()), Type: string(finding.Type()),
		Wanted: requirementOf(finding), Verdict: string(finding.Verdict),
	}
	if finding.Verdict == evaluation.Tolerated || finding.Verdict == evaluation.Waived {
		entry.Found = sentence(finding.Reason())
	}
	if finding.Unsatisfied() {
		entry.Found, entry.Since = sentence(finding.Reason()), r.since(addOn, finding)
		entry.RootCauses = r.rootCauses(addOn, finding)
	}
	return entry
}

// requirementOf returns the requirement of an edge as text. It is empty if the declaration is not known.
func requirementOf(finding *evaluation.Finding) string {
	switch {
	case finding.Requirement != nil:
		return sentence(strings.TrimSpace(finding.Requirement.Subject + " " + finding.Requirement.Wanted))
	case finding.Dependency != nil:
		return sentence(subjectOf(finding.Dependency))
	default:
		return ""
	}
}

// since returns the time at which the condition that decides the verdict changed. Without such a condition, it returns the time at
// which the dependent became Degraded. A condition that is still to be written has no time yet.
func (r *clusterReport) since(addOn string, finding *evaluation.Finding) *metav1.Time {
	latest := cmp.Or(finding.Degraded, finding.Available)
	if own := r.AddOns[addOn].Degraded; latest == nil && condition.Owned(own) && own.Status == metav1.ConditionTrue {
		latest = own
	}
	if latest == nil || latest.LastTransitionTime.IsZero() || !latest.LastTransitionTime.Time.Before(r.Now) {
		return nil
	}
	return &metav1.Time{Time: latest.LastTransitionTime.UTC().Truncate(time.Second)}
}

// rootCauses returns the root causes of an edge that is not satisfied. If no alternative is satisfied, it returns the causes of
// each.
func (r *clusterReport) rootCauses(addOn string, finding *evaluation.Finding) []rootCause {
	var causes []rootCause
	for failed := range finding.Causes() {
		causes = append(causes, r.rootCausesOf(addOn, failed)...)
	}
	return causes[:min(len(causes), dependencyv1alpha1.MaxRootCauses)]
}

// rootCausesOf returns the root causes of an edge on one add-on or API. If the dependency fails because of an edge of its own, they
// are the causes of the dependency. Otherwise it is the edge itself.
func (r *clusterReport) rootCausesOf(addOn string, finding *evaluation.Finding) []rootCause {
	itself := []rootCause{causeOf(cause.Step{AddOn: addOn, Finding: finding})}
	if !finding.Follows() {
		return itself
	}
	target := declaration.Target(finding.Dependency)
	if _, ok := r.causes[target]; !ok {
		var causes []rootCause
		for _, path := range cause.Paths(target, func(addOn string) []evaluation.Finding { return r.findings[addOn] }) {
			causes = append(causes, causeOf(path.Root()))
		}
		r.causes[target] = causes[:min(len(causes), dependencyv1alpha1.MaxRootCauses)]
	}
	if len(r.causes[target]) == 0 {
		return itself // The conditions of the dependency are not updated yet.
	}
	return r.causes[target]
}

func causeOf(root cause.Step) rootCause {
	id := root.Cause()
	return rootCause{
		Dependent: name(root.AddOn), Target: sentence(root.Finding.Target()), Verdict: string(id.Verdict), Reason: sentence(id.Reason),
	}
}

// summary counts the edges, and the add-ons that fail because of one.
func (r *clusterReport) summary() dependencyv1alpha1.ReportSummary {
	var counted dependencyv1alpha1.ReportSummary
	failing := map[string]bool{}
	for _, e := range r.edges {
		if unsatisfied(e.Verdict) {
			counted.Unsatisfied++
			if e.finding.Blocks() {
				failing[e.AddOn] = true
			}
		}
		if e.Held {
			counted.Held++
		}
	}
	counted.Failing = int32(len(failing)) //nolint:gosec // bounded by memory
	return counted
}

// neededBy returns the dependencies of the edges that apply, with their dependents.
func (r *clusterReport) neededBy() []dependencyv1alpha1.NeededAddOn {
	dependents := map[string][]string{}
	for _, e := range r.edges {
		if e.finding.Dependency == nil || declaration.Conflicts(e.finding.Dependency) || e.Verdict == string(evaluation.NotApplicable) {
			continue
		}
		for _, named := range evaluation.Named(e.finding.Dependency) {
			if named.Dependency.API == nil {
				target := name(named.Target())
				dependents[target] = append(dependents[target], e.AddOn)
			}
		}
	}
	var needed []dependencyv1alpha1.NeededAddOn
	for _, target := range slices.Sorted(maps.Keys(dependents)) {
		slices.Sort(dependents[target])
		needed = append(needed, dependencyv1alpha1.NeededAddOn{AddOn: target, Dependents: slices.Compact(dependents[target])})
	}
	return needed
}
