// Package report describes a fleet as data: it is the output of the plugin as JSON and YAML. Its types are versioned with the group
// of their apiVersion.
package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/condition"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/settings"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation/cause"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/text"
)

// APIVersion is the apiVersion of all reports.
var APIVersion = dependencyv1alpha1.GroupVersion.String()

// RootCauses are the causes that keep add-ons of a fleet from working. The cause that breaks most add-ons comes first.
type RootCauses struct {
	metav1.TypeMeta `json:",inline"`
	// Taken is when the hub was read.
	Taken time.Time `json:"taken"`
	Reach `json:",inline"`
	// AddOns is the number of add-ons that are installed on clusters that can be reached, and declare dependencies or requirements.
	AddOns int `json:"addOns"`
	// NotInstalled is the add-on of the filter if it is not installed. Items then has the edges that it breaks.
	NotInstalled string `json:"notInstalled,omitempty"`
	// Items are the causes.
	Items []RootCause `json:"items"`
	// FailingThemselves are add-ons on clusters that can be reached. They are not available although no dependency of theirs fails.
	// Add-ons that are root causes are left out.
	FailingThemselves []Failing `json:"failingThemselves,omitempty"`
	// Gated are add-ons on clusters that can be reached. They are not installed yet because their gate is closed, although no dependency is
	// known to fail.
	Gated []Failing `json:"gated,omitempty"`
	// Outdated are add-ons on clusters that can be reached. Their conditions report a failing dependency although all dependencies
	// are satisfied: addon-manager, or the agent, has not updated the conditions.
	Outdated []Failing `json:"outdated,omitempty"`
	// LastKnown are add-ons whose stored Degraded reports a failing dependency while the verdicts are held, as on clusters that
	// cannot be reached.
	LastKnown []Failing `json:"lastKnown,omitempty"`
	// Undecided are add-ons on clusters that can be reached, with dependencies whose verdict is held. No dependency of theirs is known to
	// fail. The reason names these dependencies.
	Undecided []Failing `json:"undecided,omitempty"`
	// Detached are managed clusters that are being detached from the hub. They do not count: their add-ons are removed with them.
	Detached []string `json:"detached,omitempty"`
	// Removing are add-ons that are being removed. They do not count as victims.
	Removing []Removing `json:"removing,omitempty"`
	// FailingOptional are the failing Optional dependencies of the add-on of the filter, on the
	// managed cluster of the filter.
	FailingOptional []cause.Cause `json:"failingOptional,omitempty"`
	// Unusable are declarations that cannot be used, so their dependencies are not known.
	Unusable []Unusable `json:"unusable,omitempty"`
}

// Failing is an add-on that does not work on a managed cluster.
type Failing struct {
	Cluster string `json:"cluster"`
	AddOn   string `json:"addOn"`
	// Reason is the reason of Available or Degraded. Of an add-on with a closed gate, it is the message of Installable. Of an undecided
	// one, it has the names of dependencies.
	Reason string `json:"reason,omitempty"`
}

// Unusable is a declaration that cannot be used.
type Unusable struct {
	AddOn   string `json:"addOn"`
	Problem string `json:"problem"`
}

// RootCause is a cause with the add-ons that it breaks.
type RootCause struct {
	cause.Ranked `json:",inline"`
	// Message is the message of addon-manager on the edge, for one of the victims.
	Message string `json:"message"`
	// Stored is whether Message is the stored message of Degraded, because only addon-manager knows why the installation waits. It may
	// describe other edges, too.
	Stored bool `json:"stored,omitempty"`
	// Stopped is whether Interlock does not install the add-on although the edge of that victim requests it. Message explains why.
	Stopped bool `json:"stopped,omitempty"`
	// Unset is whether a required setting of an edge on the add-on has no value on one of the clusters.
	Unset bool `json:"unset,omitempty"`
	// Ranges are the ranges that fail, where the verdict is VersionMismatch.
	Ranges []FailingRange `json:"ranges,omitempty"`
	// Repair is the obvious repair, if it may break other edges.
	Repair *Repair `json:"repair,omitempty"`
	// Providers are registered add-ons that provide an API that is not served.
	Providers []string `json:"providers,omitempty"`
	// Began is when the dependency itself became unavailable, and Effects when add-ons that need it became Degraded. They are zero where
	// that is not known.
	Began   cause.Onset `json:"began,omitzero"`
	Effects cause.Onset `json:"effects,omitzero"`
	// Shared are traits of the affected clusters that most other clusters with the same
	// add-ons do not have.
	Shared []cause.Common `json:"shared,omitempty"`
	// Others is the number of these other clusters.
	Others int `json:"others"`
}

// Filter selects the add-ons that count as victims. An empty field selects all.
type Filter struct{ Cluster, AddOn string }

// FindRootCauses evaluates the add-ons of a fleet, and traces each failure to its causes.
func FindRootCauses(hub *snapshot.Snapshot, filter Filter) *RootCauses {
	f := newFinder(hub.Taken)
	victims := filter
	if filter.AddOn != "" && !hub.IsInstalled(filter.AddOn, filter.Cluster) {
		f.report.NotInstalled, victims.AddOn = filter.AddOn, ""
	}
	f.report.Unusable = FindUnusable(hub.Declared, filter.AddOn)
	names := slices.DeleteFunc(hub.Names(), func(name string) bool { return cmp.Or(filter.Cluster, name) != name })
	eachView(hub, names, func(view clusterView) { f.addCluster(view, victims) })
	return f.finish(func(item *RootCause) *Repair { return f.repair(hub, item) })
}

// FindUnusable returns the declarations that cannot be used, of all add-ons or of a single add-on.
func FindUnusable(evaluator *evaluation.Evaluator, single string) []Unusable {
	var unusable []Unusable
	for _, addOn := range evaluator.AddOns() {
		if cmp.Or(single, addOn) == addOn && !evaluator.Valid(addOn) {
			for _, problem := range evaluator.Problems(addOn) {
				unusable = append(unusable, Unusable{AddOn: addOn, Problem: problem.Finding})
			}
		}
	}
	return unusable
}

// finish ranks the causes, and returns the report. The function returns the obvious repair of a cause.
func (f *finder) finish(repair func(*RootCause) *Repair) *RootCauses {
	f.traits = newTraitsFinder(len(f.objects), func(cluster int) *clusterv1.ManagedCluster { return f.objects[cluster] })
	for _, ranked := range f.ranking.Ranked() {
		if f.report.NotInstalled != "" && ranked.AddOn != f.report.NotInstalled {
			continue
		}
		clusters, explanation := ranked.Clusters(), f.examples[ranked.Cause].explanation()
		item := RootCause{
			Ranked:    ranked,
			Message:   explanation.Message,
			Stored:    explanation.Stored,
			Stopped:   explanation.Stopped,
			Unset:     f.unset.Has(ranked.Cause),
			Providers: explanation.Providers,
			Began:     cause.FindOnset(f.began[ranked.Cause]),
			Effects:   effectsOf(ranked.Victims),
		}
		item.Shared, item.Others = f.shared(&ranked, clusters)
		f.setRanges(&item)
		item.Repair = repair(&item)
		f.report.Items = append(f.report.Items, item)
		f.report.FailingThemselves = slices.DeleteFunc(f.report.FailingThemselves, func(failing Failing) bool {
			_, isCause := slices.BinarySearch(clusters, failing.Cluster)
			return isCause && failing.AddOn == ranked.AddOn
		})
	}
	return f.report
}

// finder searches the root causes of a fleet.
type finder struct {
	report  *RootCauses
	ranking cause.Ranking
	// examples has the finding on one of the victims of each cause.
	examples map[cause.Cause]example
	// unset are the causes of edges with a required setting that has no value.
	unset sets.Set[cause.Cause]
	// ranges are the failing ranges of each cause, by their texts.
	ranges map[cause.Cause]map[string]*failingRange
	// began has the moments at which the dependencies became unavailable, by cause.
	began map[cause.Cause][]cause.Moment
	// objects are the managed clusters that can be reached, and places has their places by name.
	objects []*clusterv1.ManagedCluster
	places  map[string]int
	// installed has the places of the clusters of each add-on.
	installed map[string][]int
	traits    *traitsFinder
}

func newFinder(taken time.Time) *finder {
	return &finder{
		report:    &RootCauses{TypeMeta: metav1.TypeMeta{APIVersion: APIVersion, Kind: "RootCauses"}, Taken: taken, Items: []RootCause{}},
		places:    map[string]int{},
		examples:  map[cause.Cause]example{},
		installed: map[string][]int{},
		unset:     sets.New[cause.Cause](),
		ranges:    map[cause.Cause]map[string]*failingRange{},
		began:     map[cause.Cause][]cause.Moment{},
	}
}

// example is a finding with a cause.
type example struct {
	finding *evaluation.Finding
	// stored is the message of Degraded of the add-on with the edge. It is empty if the finding explains the failure.
	stored string
}

// exampleOf returns the last step of a path as an example.
func exampleOf(view clusterView, step cause.Step) example {
	shown := example{finding: step.Finding}
	if dependent := view.addOn(step.AddOn); dependent != nil && step.Finding.Unexplained() {
		if degraded := fleet.Degraded(dependent); isFailure(degraded) {
			shown.stored = degraded.Message
		}
	}
	return shown
}

// explainsMore reports whether an example explains more than another one with the same cause. The example of an edge that requests the
// installation explains more.
func (e example) explainsMore(other example) bool {
	return other.finding == nil || e.finding.Stopped() && !other.finding.Stopped() ||
		e.stored != "" && other.stored == "" && !other.finding.Stopped()
}

// addCluster adds the failures on a managed cluster.
func (f *finder) addCluster(view clusterView, filter Filter) {
	if view.detached {
		f.report.Detached = append(f.report.Detached, view.name)
		return
	}
	if !f.report.add(view.lost) {
		f.addLastKnown(view, filter)
		return
	}
	cluster, findings := view.name, view.findings
	place := len(f.objects)
	f.objects, f.places[cluster] = append(f.objects, view.object), place
	f.addRemoving(view.removing(), filter)
	for _, addOn := range view.addOns {
		if cmp.Or(filter.AddOn, addOn.Name) != addOn.Name || addOn.DeletionTimestamp != nil {
			continue
		}
		f.installed[addOn.Name] = append(f.installed[addOn.Name], place)
		paths := cause.Paths(addOn.Name, findings)
		if f.report.NotInstalled == "" && len(paths) == 0 {
			f.addUnexplained(addOn, findings(addOn.Name))
		}
		if len(findings(addOn.Name)) > 0 {
			f.report.AddOns++
		}
		if filter.Cluster != "" && filter.AddOn != "" {
			f.report.FailingOptional = failingOptional(addOn.Name, findings(addOn.Name))
		}
		for _, path := range paths {
			root := path.Root().Cause()
			f.ranking.Add(root, cause.Victim{Cluster: cluster, AddOn: addOn.Name, Since: degradedSince(addOn)})
			if root.Verdict == evaluation.NotAvailable {
				f.began[root] = append(f.began[root], cause.Moment{Cluster: cluster, Time: unavailableSince(view.addOn(root.AddOn))})
			}
			f.addRanges(root, path.Root().AddOn, cluster, findings(path.Root().AddOn))
			if variables, _ := path.Root().Finding.Settings(); settings.Lacking(variables) != "" {
				f.unset.Insert(root)
			}
			if current := exampleOf(view, path.Root()); current.explainsMore(f.examples[root]) {
				f.examples[root] = current
			}
		}
	}
}

// addRemoving adds the add-ons that are being removed: all, or with an add-on in the filter, this one and those that it requires.
func (f *finder) addRemoving(removals []Removing, filter Filter) {
	for _, removal := range removals {
		if filter.AddOn == "" || removal.AddOn == filter.AddOn || slices.Contains(removal.RequiredBy, filter.AddOn) {
			f.report.Removing = append(f.report.Removing, removal)
		}
	}
}

// addLastKnown adds the stored conditions of a managed cluster that cannot be reached.
func (f *finder) addLastKnown(view clusterView, filter Filter) {
	for _, addOn := range view.addOns {
		if degraded := fleet.Degraded(addOn); cmp.Or(filter.AddOn, addOn.Name) == addOn.Name && isFailure(degraded) {
			f.report.LastKnown = append(f.report.LastKnown, Failing{Cluster: view.name, AddOn: addOn.Name, Reason: degraded.Reason})
		}
	}
}

// addUnexplained adds an add-on without a root cause, if its conditions report that it does not work.
func (f *finder) addUnexplained(addOn *addonv1alpha1.ManagedClusterAddOn, findings []evaluation.Finding) {
	degraded, available := fleet.Degraded(addOn), fleet.Available(addOn)
	switch {
	case fleet.GateClosed(addOn):
		gated := Failing{Cluster: addOn.Namespace, AddOn: addOn.Name}
		if installable := fleet.Installable(addOn); installable != nil {
			gated.Reason = installable.Message
		}
		f.report.Gated = append(f.report.Gated, gated)
	case waitsForConfig(addOn):
		f.report.FailingThemselves = append(f.report.FailingThemselves,
			Failing{Cluster: addOn.Namespace, AddOn: addOn.Name, Reason: AwaitedConfig(addOn)})
	case available != nil && available.Status != metav1.ConditionTrue:
		if available.Reason != addonv1alpha1.AddonDegradedReasonRequiredDependencyNotSatisfied {
			f.report.FailingThemselves = append(f.report.FailingThemselves,
				Failing{Cluster: addOn.Namespace, AddOn: addOn.Name, Reason: available.Reason})
		} else if !isFailure(degraded) { // Degraded has changed, and Available is not updated yet.
			degraded = &metav1.Condition{Status: metav1.ConditionTrue, Reason: available.Reason}
		}
	}
	switch {
	case condition.Outdated(degraded, findings):
		f.report.Outdated = append(f.report.Outdated, Failing{Cluster: addOn.Namespace, AddOn: addOn.Name, Reason: degraded.Reason})
	case isFailure(degraded) && slices.ContainsFunc(findings, evaluation.Finding.Held):
		f.report.LastKnown = append(f.report.LastKnown, Failing{Cluster: addOn.Namespace, AddOn: addOn.Name, Reason: degraded.Reason})
	case !fleet.GateClosed(addOn):
		f.addUndecided(addOn, findings)
	}
}

// addUndecided adds an add-on with edges whose verdict is held.
func (f *finder) addUndecided(addOn *addonv1alpha1.ManagedClusterAddOn, findings []evaluation.Finding) {
	var edges []string
	for i := range findings {
		if findings[i].Held() && findings[i].Name() != "" {
			edges = append(edges, findings[i].Name())
		}
	}
	if len(edges) > 0 {
		f.report.Undecided = append(f.report.Undecided,
			Failing{Cluster: addOn.Namespace, AddOn: addOn.Name, Reason: strings.Join(edges, ", ")})
	}
}

// waitsForConfig reports whether an add-on is not available and OCM does not deploy it, because an AddOnDeploymentConfig does not exist.
func waitsForConfig(addOn *addonv1alpha1.ManagedClusterAddOn) bool {
	available := fleet.Available(addOn)
	return AwaitedConfig(addOn) != "" && (available == nil || available.Status != metav1.ConditionTrue)
}

// AwaitedConfig returns the text about the AddOnDeploymentConfig that keeps OCM from deploying an add-on, because it does not exist. It is
// empty if there is none.
func AwaitedConfig(addOn *addonv1alpha1.ManagedClusterAddOn) string {
	config, ok := fleet.AwaitedConfig(addOn)
	if !ok {
		return ""
	}
	remedy := "create it, or correct spec.configs or the default in the ClusterManagementAddOn"
	if fleet.RefersToSettings(addOn) {
		remedy = "addon-manager with --lifecycle creates it, and an event SettingUnset says what keeps it from that"
	}
	return fmt.Sprintf("OCM deploys nothing until AddOnDeploymentConfig %s/%s exists: %s", text.Name(config.Namespace), text.Name(config.Name), remedy)
}

// isFailure reports whether addon-manager has set Degraded because a dependency fails.
func isFailure(degraded *metav1.Condition) bool {
	return condition.Owned(degraded) && degraded.Status == metav1.ConditionTrue
}

// failingOptional returns the Optional edges of an add-on that fail.
func failingOptional(addOn string, findings []evaluation.Finding) []cause.Cause {
	var failing []cause.Cause
	for i := range findings {
		if finding := &findings[i]; finding.Unsatisfied() && !finding.Blocks() {
			for failed := range finding.Causes() {
				failing = append(failing, cause.Step{AddOn: addOn, Finding: failed}.Cause())
			}
		}
	}
	return failing
}

func message(finding *evaluation.Finding) string {
	return condition.Message([]evaluation.Finding{*finding}, condition.MaxMessage)
}
