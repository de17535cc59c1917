package report

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation/cause"
	"open-cluster-management.io/interlock/pkg/text"
)

// FleetReport is the report on the fleet.
type FleetReport = dependencyv1alpha1.AddOnFleetReport

// Limits of texts in the report on the fleet, in characters. The schema has the same limits.
const (
	maxFleetName  = 256
	maxFleetTitle = 512
	maxFleetText  = 768
)

// Sizes of the report on the fleet and of its lists, in bytes of JSON. Edges have the rest of the size.
const (
	MaxFleetBytes    = 64 << 10
	maxCauseBytes    = 34 << 10
	maxUnusableBytes = 4 << 10
	maxWaitBytes     = 8 << 10
	// headBytes is reserved for the fields that are not in a list.
	headBytes = 1 << 10
)

// FleetInputs are the inputs of the report on the fleet besides the states of managed clusters.
type FleetInputs struct {
	// Observed is the time of the report.
	Observed time.Time
	// Explanations has the explanations of Tally.Examples. A cause may lack one.
	Explanations map[cause.Cause]Explanation
	// Reasons has the reasons of Tally.UnexplainedExamples.
	Reasons map[dependencyv1alpha1.UnexplainedState]string
	// Objects has the managed clusters by name.
	Objects  map[string]*clusterv1.ManagedCluster
	Unusable []Unusable
}

// Report returns the report on the fleet.
func (t *Tally) Report(inputs FleetInputs) *FleetReport {
	report := &FleetReport{
		TypeMeta:   metav1.TypeMeta{APIVersion: APIVersion, Kind: dependencyv1alpha1.FleetReportKind.Kind},
		ObjectMeta: metav1.ObjectMeta{Name: dependencyv1alpha1.FleetReportName},
		Observed:   metav1.NewTime(inputs.Observed.UTC().Truncate(time.Second)),
		Summary: dependencyv1alpha1.FleetSummary{
			Clusters: number(t.reach.Clusters), Lost: number(t.reach.Lost), Detached: number(t.detached), AddOns: number(t.addOns),
			RootCauses: count(t.ranking),
		},
	}
	traits := newTraitsFinder(len(t.clusters), func(cluster int) *clusterv1.ManagedCluster { return inputs.Objects[t.clusters[cluster]] })
	for _, tallied := range t.ranking[:min(len(t.ranking), dependencyv1alpha1.MaxFleetCauses)] {
		report.RootCauses = append(report.RootCauses, t.fleetCause(tallied, inputs.Explanations[tallied.Cause], traits))
	}
	for _, example := range t.UnexplainedExamples() {
		report.Unexplained = append(report.Unexplained, dependencyv1alpha1.UnexplainedAddOns{
			State: example.State, AddOns: number(t.unexplained[example.State].count), AddOn: fleetName(example.AddOn),
			Cluster: fleetName(example.Cluster), Reason: fleetText(inputs.Reasons[example.State]),
		})
	}
	for _, unusable := range inputs.Unusable {
		report.Unusable = append(report.Unusable,
			dependencyv1alpha1.UnusableDeclaration{AddOn: fleetName(unusable.AddOn), Problem: fleetText(unusable.Problem)})
	}
	report.Waiting, report.Edges = t.fleetWaits(), t.fleetEdges()
	boundFleet(report, len(t.ranking))
	return report
}

// fleetCause returns an entry for a cause.
func (t *Tally) fleetCause(
	tallied *talliedCause, explanation Explanation, traits *traitsFinder,
) dependencyv1alpha1.FleetCause {
	entry := dependencyv1alpha1.FleetCause{
		Title: text.Cut(text.OneLine(tallied.title), maxFleetTitle),
		AddOn: fleetName(tallied.AddOn), API: fleetName(tallied.API), ServedBy: string(tallied.ServedBy),
		HostingCluster: fleetName(tallied.HostingCluster), Removing: tallied.Removing, Unreported: tallied.Unreported, Served: tallied.Served,
		Requirement: fleetName(tallied.Requirement), Dependent: fleetName(tallied.Dependent), Verdict: string(tallied.Verdict),
		Reason: fleetName(tallied.Reason), Cycle: text.Cut(text.OneLine(tallied.Cycle), maxFleetTitle),
		Message: fleetText(explanation.Message), Stored: explanation.Stored, Stopped: explanation.Stopped, Unset: tallied.unset,
		Clusters: count(tallied.affected), AddOns: number(tallied.victims),
		Began: fleetOnset(tallied.began), Effects: fleetOnset(tallied.effects),
	}
	for _, provider := range explanation.Providers[:min(len(explanation.Providers), dependencyv1alpha1.MaxFleetProviders)] {
		entry.Providers = append(entry.Providers, fleetName(provider))
	}
	names := slices.SortedFunc(maps.Keys(tallied.addOns), func(a, b string) int {
		return cmp.Or(cmp.Compare(tallied.addOns[b], tallied.addOns[a]), strings.Compare(a, b))
	})
	shown := names[:min(len(names), dependencyv1alpha1.MaxFleetVictims)]
	for _, addOn := range shown {
		entry.Victims = append(entry.Victims, dependencyv1alpha1.FleetVictim{AddOn: fleetName(addOn), Clusters: number(tallied.addOns[addOn])})
	}
	entry.OtherVictims = number(len(names) - len(shown))
	for _, example := range tallied.examples {
		entry.Examples = append(entry.Examples, fleetName(example))
	}
	shared, others := t.shared(tallied, traits)
	for _, trait := range shared[:min(len(shared), dependencyv1alpha1.MaxFleetTraits)] {
		entry.Shared = append(entry.Shared, dependencyv1alpha1.SharedTrait{
			Name: text.Cut(text.OneLine(trait.Name), maxFleetTitle), Value: text.Cut(text.OneLine(trait.Value), maxFleetTitle),
			Affected: number(trait.Affected), Others: number(trait.Others),
		})
	}
	entry.OtherClusters = number(others)
	return entry
}

// shared compares the affected clusters with the other clusters that have one of the victims.
func (t *Tally) shared(tallied *talliedCause, traits *traitsFinder) (common []cause.Common, others int) {
	var candidates [][]int
	for addOn := range tallied.addOns {
		candidates = append(candidates, t.installed[addOn])
	}
	affected := make([]int, 0, len(tallied.affected))
	for _, each := range tallied.affected {
		affected = append(affected, each.cluster)
	}
	return traits.compare(affected, candidates...)
}

// fleetWaits returns the entries for waits. Waits on most managed clusters come first.
func (t *Tally) fleetWaits() []dependencyv1alpha1.FleetWait {
	keys := slices.SortedFunc(maps.Keys(t.waits), func(a, b ownedWait) int {
		return cmp.Or(cmp.Compare(len(t.waits[b].clusters), len(t.waits[a].clusters)), cmp.Compare(a.addOn, b.addOn),
			cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Template, b.Template), cmp.Compare(a.Version, b.Version))
	})
	var waits []dependencyv1alpha1.FleetWait
	for _, key := range keys {
		tallied := t.waits[key]
		entry := dependencyv1alpha1.FleetWait{
			AddOn: fleetName(key.addOn), Kind: key.Kind, Template: fleetName(key.Template), Version: fleetName(key.Version),
			Clusters: count(tallied.clusters), Since: sinceTime(metav1.NewTime(timeOf(tallied.since))),
		}
		for _, cluster := range tallied.clusters[:min(len(tallied.clusters), dependencyv1alpha1.MaxFleetExamples)] {
			entry.Examples = append(entry.Examples, fleetName(cluster))
		}
		names := slices.Sorted(maps.Keys(tallied.dependencies))
		for _, dependency := range names[:min(len(names), dependencyv1alpha1.MaxFleetVictims)] {
			entry.Dependencies = append(entry.Dependencies, dependencyv1alpha1.AwaitedDependency{
				Dependency: fleetName(dependency), Clusters: number(tallied.dependencies[dependency]),
			})
		}
		waits = append(waits, entry)
	}
	return waits
}

// fleetEdges returns the entries for edges. Edges with an unsatisfied verdict come first, because the last edges may be left out.
func (t *Tally) fleetEdges() []dependencyv1alpha1.FleetEdge {
	failing := func(key ownedEdge) int {
		for verdict := range t.edges[key] {
			if verdict.Unsatisfied() {
				return 0
			}
		}
		return 1
	}
	keys := slices.SortedFunc(maps.Keys(t.edges), func(a, b ownedEdge) int {
		return cmp.Or(cmp.Compare(failing(a), failing(b)), cmp.Compare(a.addOn, b.addOn), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Type, b.Type))
	})
	var edges []dependencyv1alpha1.FleetEdge
	for _, key := range keys {
		entry := dependencyv1alpha1.FleetEdge{AddOn: fleetName(key.addOn), Dependency: fleetName(key.Name), Type: string(key.Type)}
		for _, verdict := range slices.Sorted(maps.Keys(t.edges[key])) {
			entry.Verdicts = append(entry.Verdicts, verdictCount(verdict, t.edges[key][verdict]))
		}
		edges = append(edges, entry)
	}
	return edges
}

func verdictCount(verdict evaluation.Verdict, clusters int) dependencyv1alpha1.VerdictCount {
	return dependencyv1alpha1.VerdictCount{Verdict: string(verdict), Clusters: number(clusters)}
}

// boundFleet cuts a report on a fleet with that number of root causes, if it would be larger than MaxFleetBytes or the schema would
// refuse it. It counts the entries that it leaves out. Then it orders the edges by name.
func boundFleet(report *FleetReport, causes int) {
	leftOut := &report.Summary.LeftOut
	capacity := MaxFleetBytes - metadataBytes - headBytes
	report.RootCauses = share(report.RootCauses, &capacity, maxCauseBytes, dependencyv1alpha1.MaxFleetCauses)
	leftOut.RootCauses = number(causes - len(report.RootCauses))
	report.Unexplained = share(report.Unexplained, &capacity, capacity, dependencyv1alpha1.MaxFleetStates)
	total := len(report.Unusable)
	report.Unusable = share(report.Unusable, &capacity, maxUnusableBytes, dependencyv1alpha1.MaxFleetUnusable)
	leftOut.Unusable = number(total - len(report.Unusable))
	total = len(report.Waiting)
	report.Waiting = share(report.Waiting, &capacity, maxWaitBytes, dependencyv1alpha1.MaxFleetWaits)
	leftOut.Waiting = number(total - len(report.Waiting))
	total = len(report.Edges)
	report.Edges = share(report.Edges, &capacity, capacity, dependencyv1alpha1.MaxFleetEdges)
	leftOut.Edges = number(total - len(report.Edges))
	slices.SortStableFunc(report.Edges, func(a, b dependencyv1alpha1.FleetEdge) int {
		return cmp.Or(cmp.Compare(a.AddOn, b.AddOn), cmp.Compare(a.Dependency, b.Dependency), cmp.Compare(a.Type, b.Type))
	})
}

// share returns the first entries that fit into a share of the capacity, in bytes, and are no more than the schema allows. It takes
// their size from the capacity.
func share[T any](entries []T, capacity *int, bytes, maximum int) []T {
	bytes = min(bytes, *capacity)
	for i := range entries {
		encoded, err := json.Marshal(entries[i])
		size := len(encoded) + len(",")
		if err != nil || i == maximum || size > bytes {
			return entries[:i]
		}
		bytes, *capacity = bytes-size, *capacity-size
	}
	return entries
}

func number(n int) int32 { return int32(n) } //nolint:gosec // bounded by memory

// fleetName cuts a name, and fleetText any other text, to the size that the schema of the report on the fleet allows.
func fleetName(value string) string { return text.Cut(text.OneLine(value), maxFleetName) }

func fleetText(value string) string { return text.Cut(text.OneLine(value), maxFleetText) }
