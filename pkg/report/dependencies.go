package report

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/cause"
	"open-cluster-management.io/interlock/pkg/dependency/condition"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/whatif"
	"open-cluster-management.io/interlock/pkg/fleet"
)

type (
	// DependencyReport is the report on the edges of one managed cluster: what addon-manager
	// writes to the hub, and what the plugin prints.
	DependencyReport = dependencyv1alpha1.AddOnDependencyReport
	reported         = dependencyv1alpha1.ReportedEdge
	rootCause        = dependencyv1alpha1.ReportedCause
)

// Cluster is a managed cluster with the verdicts on its edges, to be reported on.
type Cluster struct {
	whatif.Cluster
	// Waiting are the installations and upgrades of the add-ons that wait for dependencies, by the names of the add-ons.
	Waiting  []fleet.Waiting
	declared *whatif.Evaluation
	findings map[string][]evaluation.Finding
}

// EvaluateCluster finds the verdicts on the edges of all add-ons on a managed cluster, as
// they are once all conditions have followed.
func EvaluateCluster(declared *whatif.Evaluation, on whatif.Cluster) *Cluster {
	return &Cluster{Cluster: on, declared: declared, findings: declared.Findings(on)}
}

// KeepsLast reports whether a report keeps what the one before has of an edge: its verdict is
// held, or what explains it could not be read yet.
func (c *Cluster) KeepsLast() bool {
	for _, findings := range c.findings {
		if slices.ContainsFunc(findings, func(f evaluation.Finding) bool { return f.Held() || f.Unexplained() }) {
			return true
		}
	}
	return false
}

// Report returns the report with the edges of that scope, nil where there are none. before
// is the report that is stored, nil for none.
func (c *Cluster) Report(scope dependencyv1alpha1.ReportScope, before *DependencyReport) *DependencyReport {
	r := &clusterReport{Cluster: c, causes: map[string][]rootCause{}}
	for _, addOn := range slices.Sorted(maps.Keys(c.findings)) {
		r.addEdges(addOn, before)
	}
	if scope == dependencyv1alpha1.ReportUnsatisfied {
		r.edges = slices.DeleteFunc(r.edges, func(e evaluated) bool { return !unsatisfied(e.Verdict) && !passing(e.Verdict) })
	}
	slices.SortStableFunc(r.edges, func(a, b evaluated) int { return cmp.Compare(a.rank(), b.rank()) })
	pending, waits := r.pending(), r.waits(before)
	if len(r.edges)+len(pending)+len(waits) == 0 {
		return nil
	}
	found := &DependencyReport{
		TypeMeta:   metav1.TypeMeta{APIVersion: APIVersion, Kind: dependencyv1alpha1.ReportKind.Kind},
		ObjectMeta: metav1.ObjectMeta{Namespace: c.Name, Name: c.Name},
		Scope:      scope, Summary: r.summary(), Waiting: waits, Pending: pending, NeededBy: r.neededBy(),
	}
	found.Summary.Pending, found.Summary.Waiting = count(pending), count(waits)
	for _, e := range r.edges {
		found.Edges = append(found.Edges, e.reported)
	}
	bound(found)
	return found
}

// clusterReport is a report that is being made.
type clusterReport struct {
	*Cluster
	edges []evaluated
	// causes are the root causes of add-ons, by their names.
	causes map[string][]rootCause
}

// evaluated is an entry of a report, with what it is made of.
type evaluated struct {
	reported
	finding *evaluation.Finding
}

// rank orders edges: those that keep an add-on from working come first.
func (e evaluated) rank() int {
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

// passing reports whether the edge may be unsatisfied once a moment has come.
func passing(verdict string) bool {
	return verdict == string(evaluation.Tolerated) || verdict == string(evaluation.Waived)
}

func unsatisfied(verdict string) bool {
	return evaluation.Verdict(verdict).Unsatisfied()
}

// addEdges adds the edges of an add-on. What is held keeps the entry of before. Where it is
// not known what the add-on declares, all of its entries are kept.
func (r *clusterReport) addEdges(addOn string, before *DependencyReport) {
	for i := range r.findings[addOn] {
		finding := &r.findings[addOn][i]
		entry := r.entry(addOn, finding)
		if finding.Unexplained() {
			if last := entriesOf(before, entry.AddOn, entry.Dependency); len(last) > 0 && last[0].Verdict == entry.Verdict {
				entry.Found = last[0].Found
			}
		}
		if !finding.Held() {
			r.edges = append(r.edges, evaluated{entry, finding})
			continue
		}
		entry.Held, entry.Found = true, sentence(finding.HeldBecause())
		last := entriesOf(before, entry.AddOn, entry.Dependency)
		if len(last) == 0 {
			last = []reported{entry}
		}
		for _, kept := range last {
			kept.Held = true
			r.edges = append(r.edges, evaluated{kept, finding})
		}
	}
}

// entriesOf returns the entries of an edge in a report, and without a name those of all
// edges of the add-on.
func entriesOf(in *DependencyReport, addOn, dependency string) (found []reported) {
	if in == nil {
		return nil
	}
	for i := range in.Edges {
		if e := &in.Edges[i]; e.AddOn == addOn && (dependency == "" || e.Dependency == dependency) {
			found = append(found, *e)
		}
	}
	return found
}

// entry is a finding as an entry of a report.
func (r *clusterReport) entry(addOn string, finding *evaluation.Finding) reported {
	entry := reported{
		AddOn: name(addOn), Dependency: name(finding.Name()), Type: string(finding.Type()),
		Wanted: wanted(finding), Verdict: string(finding.Verdict),
	}
	if finding.Verdict == evaluation.Tolerated || finding.Verdict == evaluation.Waived {
		entry.Found = sentence(finding.Found())
	}
	if finding.Unsatisfied() {
		entry.Found, entry.Since = sentence(finding.Found()), r.since(addOn, finding)
		entry.RootCauses = r.rootCauses(addOn, finding)
	}
	return entry
}

// wanted is what the edge or requirement needs, empty where that is not known.
func wanted(finding *evaluation.Finding) string {
	switch {
	case finding.Requirement != nil:
		return sentence(strings.TrimSpace(finding.Requirement.Subject + " " + finding.Requirement.Wanted))
	case finding.Dependency != nil:
		return sentence(whatOf(finding.Dependency))
	default:
		return ""
	}
}

// since is when the condition changed on which the verdict rests, else since when the
// dependent is Degraded. A condition that is still to be written has no time yet.
func (r *clusterReport) since(addOn string, finding *evaluation.Finding) *metav1.Time {
	at := cmp.Or(finding.Degraded, finding.Available)
	if own := r.AddOns[addOn].Degraded; at == nil && condition.Owned(own) && own.Status == metav1.ConditionTrue {
		at = own
	}
	if at == nil || at.LastTransitionTime.IsZero() || !at.LastTransitionTime.Time.Before(r.Now) {
		return nil
	}
	return &metav1.Time{Time: at.LastTransitionTime.UTC().Truncate(time.Second)}
}

// rootCauses are those of an edge that is not satisfied. Where none of its alternatives is, they are those of each.
func (r *clusterReport) rootCauses(addOn string, finding *evaluation.Finding) (causes []rootCause) {
	for one := range finding.Causes() {
		causes = append(causes, r.rootCausesOf(addOn, one)...)
	}
	return causes[:min(len(causes), dependencyv1alpha1.MaxRootCauses)]
}

// rootCausesOf are those of an edge on one add-on or API: of its dependency where that
// fails because of one of its own, else the edge itself.
func (r *clusterReport) rootCausesOf(addOn string, finding *evaluation.Finding) []rootCause {
	itself := []rootCause{causeOf(cause.Step{AddOn: addOn, Finding: finding})}
	if !finding.Follows() {
		return itself
	}
	on := declaration.Target(finding.Dependency)
	if _, known := r.causes[on]; !known {
		var causes []rootCause
		for _, path := range cause.Paths(on, func(addOn string) []evaluation.Finding { return r.findings[addOn] }) {
			causes = append(causes, causeOf(path.Root()))
		}
		r.causes[on] = causes[:min(len(causes), dependencyv1alpha1.MaxRootCauses)]
	}
	if len(r.causes[on]) == 0 {
		return itself // the conditions of the dependency have not followed yet
	}
	return r.causes[on]
}

func causeOf(root cause.Step) rootCause {
	is := root.Cause()
	return rootCause{
		Dependent: name(root.AddOn), Target: sentence(root.Finding.Target()), Verdict: string(is.Verdict), Reason: sentence(is.Reason),
	}
}

// summary counts the edges, and the add-ons that fail because of one.
func (r *clusterReport) summary() (counted dependencyv1alpha1.ReportSummary) {
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
	counted.Failing = int32(len(failing)) //nolint:gosec // bounded by what fits into memory
	return counted
}

// neededBy are the dependencies of the edges that apply, with their dependents.
func (r *clusterReport) neededBy() (needed []dependencyv1alpha1.NeededAddOn) {
	dependents := map[string][]string{}
	for _, e := range r.edges {
		if e.finding.Dependency == nil || declaration.Conflicts(e.finding.Dependency) || e.Verdict == string(evaluation.NotApplicable) {
			continue
		}
		for _, one := range evaluation.Named(e.finding.Dependency) {
			if one.Dependency.API == nil {
				on := name(one.Target())
				dependents[on] = append(dependents[on], e.AddOn)
			}
		}
	}
	for _, on := range slices.Sorted(maps.Keys(dependents)) {
		slices.Sort(dependents[on])
		needed = append(needed, dependencyv1alpha1.NeededAddOn{AddOn: on, Dependents: slices.Compact(dependents[on])})
	}
	return needed
}
