package report

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	"k8s.io/apimachinery/pkg/util/sets"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/condition/whatif"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/versions"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation/cause"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
)

// FailingRange is a range of versions that the version of an add-on is not in.
type FailingRange struct {
	Range string `json:"range"`
	// Dependents are the add-ons that declare it, ascending.
	Dependents []string `json:"dependents"`
	// Clusters is the number of managed clusters on which it fails.
	Clusters int `json:"clusters"`
}

// Repair is the obvious repair of a root cause, tried on the affected managed clusters.
type Repair struct {
	// Install and Remove are the add-on to install or to remove.
	Install string `json:"install,omitempty"`
	Remove  string `json:"remove,omitempty"`
	// Version is the version that the add-on would have to have: the newest known one in all failing ranges, or the lowest one in them.
	Version string `json:"version,omitempty"`
	// NoVersion is whether no release is in all failing ranges, so that no version is a repair.
	NoVersion bool `json:"noVersion,omitempty"`
	// Breaks are the edges that would become unsatisfied.
	Breaks []BrokenEdge `json:"breaks,omitempty"`
}

// BrokenEdge is an edge that a repair would break.
type BrokenEdge struct {
	AddOn   string             `json:"addOn"`
	Edge    string             `json:"dependency"`
	Verdict evaluation.Verdict `json:"verdict"`
	// Message describes the edge after the repair, on the first of the clusters.
	Message  string   `json:"message"`
	Clusters []string `json:"clusters"`
}

// failingRange collects the dependents and clusters of a FailingRange.
type failingRange struct {
	accepted             *versions.Range
	dependents, clusters sets.Set[string]
}

// addRanges adds the ranges of all edges of a dependent that fail for the same cause.
func (f *finder) addRanges(root cause.Cause, dependent, cluster string, findings []evaluation.Finding) {
	if root.Verdict != evaluation.VersionMismatch {
		return
	}
	for i := range findings {
		if !findings[i].Unsatisfied() || !findings[i].Blocks() {
			continue
		}
		for finding := range findings[i].Causes() {
			if (cause.Step{AddOn: dependent, Finding: finding}).Cause() == root {
				f.addRange(root, dependent, cluster, finding.Dependency)
			}
		}
	}
}

func (f *finder) addRange(root cause.Cause, dependent, cluster string, edge *addonv1alpha1.AddonDependency) {
	accepted, err := versions.ParseRange(edge.Version, edge.Prereleases)
	if err != nil {
		return // a policy has replaced the declared range
	}
	if f.ranges[root] == nil {
		f.ranges[root] = map[string]*failingRange{}
	}
	failing := f.ranges[root][edge.Version]
	if failing == nil {
		failing = &failingRange{accepted: accepted, dependents: sets.New[string](), clusters: sets.New[string]()}
		f.ranges[root][edge.Version] = failing
	}
	failing.dependents.Insert(dependent)
	failing.clusters.Insert(cluster)
}

// setRanges sets the failing ranges of a cause. The range that fails on most clusters comes first.
func (f *finder) setRanges(item *RootCause) {
	for text, failing := range f.ranges[item.Cause] {
		item.Ranges = append(item.Ranges, FailingRange{Range: text, Dependents: sets.List(failing.dependents), Clusters: failing.clusters.Len()})
	}
	slices.SortFunc(item.Ranges, func(a, b FailingRange) int {
		return cmp.Or(-cmp.Compare(a.Clusters, b.Clusters), strings.Compare(a.Range, b.Range))
	})
}

// repair returns the obvious repair of a cause. It is nil if there is none, or if the repair of an installation breaks nothing.
func (f *finder) repair(hub *snapshot.Snapshot, item *RootCause) *Repair {
	switch {
	case item.Removing || item.AddOn == "":
		return nil
	case item.Verdict == evaluation.NotInstalled:
		repair := &Repair{Install: item.AddOn}
		if MayBreakOnInstall(hub, item.AddOn) {
			repair.try(hub, whatif.Change{Install: []string{item.AddOn}}, item.Clusters())
		}
		if len(repair.Breaks) == 0 {
			return nil
		}
		return repair
	case item.Verdict == evaluation.Conflict:
		repair := &Repair{Remove: item.AddOn}
		repair.try(hub, whatif.Change{Remove: []string{item.AddOn}}, item.Clusters())
		return repair
	case item.Verdict == evaluation.VersionMismatch && len(item.Ranges) > 0:
		return f.repairVersion(hub, item)
	default:
		return nil
	}
}

// MayBreakOnInstall reports whether the installation of an add-on can break an edge: one of its own, or one that conflicts with it.
func MayBreakOnInstall(hub *snapshot.Snapshot, addOn string) bool {
	return len(hub.Declared.Needs(addOn)) > 0 || slices.ContainsFunc(hub.Declared.Dependents(addOn), func(dependent string) bool {
		return slices.ContainsFunc(hub.Declared.Declaration(dependent).Dependencies, func(edge addonv1alpha1.AddonDependency) bool {
			return edge.Type == addonv1alpha1.DependencyTypeConflicts
		})
	})
}

// repairVersion returns the version that is in all failing ranges, with what it would break.
func (f *finder) repairVersion(hub *snapshot.Snapshot, item *RootCause) *Repair {
	var ranges []*versions.Range
	for failing := range maps.Values(f.ranges[item.Cause]) {
		ranges = append(ranges, failing.accepted)
	}
	version := newestKnown(hub, item.AddOn, ranges)
	if version == nil {
		version = versions.Lowest(ranges...)
	}
	if version == nil {
		return &Repair{NoVersion: true}
	}
	repair := &Repair{Version: version.Original()}
	repair.try(hub, whatif.Change{Versions: map[string]string{item.AddOn: version.String()}}, item.Clusters())
	return repair
}

// newestKnown returns the newest version of an add-on that is in all ranges, of the versions of its AddOnTemplates, its registration, and
// its ManagedClusterAddOns. It is nil if none is.
func newestKnown(hub *snapshot.Snapshot, addOn string, ranges []*versions.Range) *semver.Version {
	candidates := sets.New(hub.Declared.Version(addOn).Current)
	for i := range hub.Templates {
		if template := &hub.Templates[i]; template.Spec.AddonName == addOn {
			candidates.Insert(versions.OfTemplate(template.Annotations, template.Labels))
		}
	}
	for _, installed := range hub.AddOns {
		if installed.Name == addOn {
			candidates.Insert(versions.In(installed.Annotations).Current)
		}
	}
	var newest *semver.Version
	for number := range candidates {
		version, err := semver.NewVersion(number)
		if err == nil && versions.InAll(version, ranges) && (newest == nil || version.GreaterThan(newest)) {
			newest = version
		}
	}
	return newest
}

// try adds the edges that a change would break on managed clusters.
func (r *Repair) try(hub *snapshot.Snapshot, change whatif.Change, clusters []string) {
	for _, cluster := range clusters {
		whole := hub.Whole(cluster)
		findingsBefore, findingsAfter := hub.Evaluation().Findings(whole), hub.Evaluation().Findings(change.Apply(whole))
		for _, difference := range whatif.Compare(findingsBefore, findingsAfter) {
			if difference.Breaks() {
				r.add(difference, cluster)
			}
		}
	}
	slices.SortStableFunc(r.Breaks, func(a, b BrokenEdge) int {
		return cmp.Or(-cmp.Compare(len(a.Clusters), len(b.Clusters)), strings.Compare(a.AddOn, b.AddOn), strings.Compare(a.Edge, b.Edge))
	})
}

func (r *Repair) add(difference whatif.Difference, cluster string) {
	finding := difference.After
	index := slices.IndexFunc(r.Breaks, func(edge BrokenEdge) bool {
		return edge.AddOn == difference.AddOn && edge.Edge == finding.Name() && edge.Verdict == finding.Verdict
	})
	if index < 0 {
		index = len(r.Breaks)
		r.Breaks = append(r.Breaks, BrokenEdge{
			AddOn: difference.AddOn, Edge: finding.Name(), Verdict: finding.Verdict, Message: finding.Sentence(finding.AuthorMessage()),
		})
	}
	r.Breaks[index].Clusters = append(r.Breaks[index].Clusters, cluster)
}
