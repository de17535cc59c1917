// Package report is what Interlock reports of a fleet as data: the output of the plugin
// as JSON and YAML. Its types are versioned with the group of their apiVersion.
package report

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/cause"
	"open-cluster-management.io/interlock/pkg/dependency/condition"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
)

// APIVersion is that of all reports.
var APIVersion = dependencyv1alpha1.GroupVersion.String()

// RootCauses are the causes that keep add-ons of a fleet from working, the one that
// breaks most first.
type RootCauses struct {
	metav1.TypeMeta `json:",inline"`
	// Taken is when the hub was read.
	Taken time.Time `json:"taken"`
	Reach `json:",inline"`
	// AddOns are how many are installed on the clusters that can be reached, and declare
	// dependencies or requirements.
	AddOns int `json:"addOns"`
	// NotInstalled is the add-on of the filter where it is not installed. Items are then what
	// it breaks.
	NotInstalled string `json:"notInstalled,omitempty"`
	// Items are the causes.
	Items []RootCause `json:"items"`
	// FailingThemselves are add-ons that are not available although no dependency of
	// theirs fails, on clusters that can be reached. Those that are causes are left out.
	FailingThemselves []Failing `json:"failingThemselves,omitempty"`
	// Outdated are add-ons that are Degraded, or not available, for a dependency, although all
	// are satisfied, on clusters that can be reached: addon-manager, or the agent, has not updated them.
	Outdated []Failing `json:"outdated,omitempty"`
	// LastKnown are add-ons that are Degraded for a dependency where the verdicts are held, as
	// on clusters that cannot be reached: the stored condition is all that is known.
	LastKnown []Failing `json:"lastKnown,omitempty"`
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
	// Reason is that of the condition: of Available, or of Degraded.
	Reason string `json:"reason,omitempty"`
}

// Unusable is a declaration that cannot be used.
type Unusable struct {
	AddOn   string `json:"addOn"`
	Problem string `json:"problem"`
}

// RootCause is one cause and all that it breaks.
type RootCause struct {
	cause.Ranked `json:",inline"`
	// Message is the one of addon-manager on the edge, for one of the victims.
	Message string `json:"message"`
	// Stopped: Interlock does not install the add-on although the edge of that victim asks for it. Message says why.
	Stopped bool `json:"stopped,omitempty"`
	// Providers are registered add-ons that bring an API that is not served.
	Providers []string `json:"providers,omitempty"`
	// First is the victim that was broken first.
	First cause.Victim `json:"first,omitzero"`
	// Shared are traits of the affected clusters that most other clusters with the same
	// add-ons do not have.
	Shared []cause.Common `json:"shared,omitempty"`
	// Others are how many such other clusters there are.
	Others int `json:"others"`
}

// Filter says which add-ons count as victims; empty fields: all.
type Filter struct{ Cluster, AddOn string }

// FindRootCauses evaluates the add-ons of a fleet, and follows what fails to its causes.
func FindRootCauses(of *snapshot.Snapshot, filter Filter) *RootCauses {
	f := &finder{
		found:  &RootCauses{TypeMeta: metav1.TypeMeta{APIVersion: APIVersion, Kind: "RootCauses"}, Taken: of.Taken, Items: []RootCause{}},
		traits: map[string]cause.Traits{}, findings: map[cause.Cause]*evaluation.Finding{}, installed: map[string][]string{},
	}
	victims := filter
	if filter.AddOn != "" && !of.IsInstalled(filter.AddOn, filter.Cluster) {
		f.found.NotInstalled, victims.AddOn = filter.AddOn, ""
	}
	for _, addOn := range of.Declared.AddOns() {
		if cmp.Or(filter.AddOn, addOn) == addOn && !of.Declared.Known(addOn) {
			for _, problem := range of.Declared.Problems(addOn) {
				f.found.Unusable = append(f.found.Unusable, Unusable{AddOn: addOn, Problem: problem.Finding})
			}
		}
	}
	for _, cluster := range of.Names() {
		if cmp.Or(filter.Cluster, cluster) == cluster {
			f.look(of, cluster, victims)
		}
	}
	for _, ranked := range f.ranking.Ranked() {
		if f.found.NotInstalled != "" && ranked.AddOn != f.found.NotInstalled {
			continue
		}
		clusters, finding := ranked.Clusters(), f.findings[ranked.Cause]
		item := RootCause{Ranked: ranked, Message: message(finding), Stopped: finding.Stopped(), First: ranked.First()}
		if finding.Detail != nil {
			item.Providers = finding.Detail.Providers
		}
		item.Shared, item.Others = f.shared(&ranked, clusters)
		f.found.Items = append(f.found.Items, item)
		f.found.FailingThemselves = slices.DeleteFunc(f.found.FailingThemselves, func(failing Failing) bool {
			_, isCause := slices.BinarySearch(clusters, failing.Cluster)
			return isCause && failing.AddOn == ranked.AddOn
		})
	}
	return f.found
}

// finder is the search for the root causes of a fleet.
type finder struct {
	found   *RootCauses
	ranking cause.Ranking
	// findings are those of a cause for one of its victims.
	findings map[cause.Cause]*evaluation.Finding
	traits   map[string]cause.Traits
	// installed are the clusters of each add-on, ascending.
	installed map[string][]string
}

// look adds what fails on a managed cluster.
func (f *finder) look(of *snapshot.Snapshot, cluster string, filter Filter) {
	if !f.found.count(of, cluster) {
		f.remember(of, cluster, filter)
		return
	}
	f.traits[cluster] = traitsOf(of.Object(cluster))
	findings := of.Evaluated(cluster)
	for _, addOn := range of.Installed(cluster) {
		if cmp.Or(filter.AddOn, addOn.Name) != addOn.Name {
			continue
		}
		f.installed[addOn.Name] = append(f.installed[addOn.Name], cluster)
		paths := cause.Paths(addOn.Name, findings)
		if f.found.NotInstalled == "" && len(paths) == 0 {
			f.unexplained(addOn, findings(addOn.Name))
		}
		if len(findings(addOn.Name)) > 0 {
			f.found.AddOns++
		}
		if filter.Cluster != "" && filter.AddOn != "" {
			f.found.FailingOptional = failingOptional(addOn.Name, findings(addOn.Name))
		}
		for _, path := range paths {
			root := path.Root().Cause()
			f.ranking.Add(root, cause.Victim{Cluster: cluster, AddOn: addOn.Name, Since: degradedSince(addOn)})
			// That of an edge which asks for the installation explains more.
			if f.findings[root] == nil || path.Root().Finding.Stopped() && !f.findings[root].Stopped() {
				f.findings[root] = path.Root().Finding
			}
		}
	}
}

// remember adds what is stored of a managed cluster that cannot be reached.
func (f *finder) remember(of *snapshot.Snapshot, cluster string, filter Filter) {
	for _, addOn := range of.Installed(cluster) {
		if degraded := fleet.Degraded(addOn); cmp.Or(filter.AddOn, addOn.Name) == addOn.Name && isFailure(degraded) {
			f.found.LastKnown = append(f.found.LastKnown, Failing{Cluster: cluster, AddOn: addOn.Name, Reason: degraded.Reason})
		}
	}
}

// unexplained adds an add-on that has no root cause, if its conditions say that it does not
// work.
func (f *finder) unexplained(addOn *addonv1alpha1.ManagedClusterAddOn, findings []evaluation.Finding) {
	degraded, available := fleet.Degraded(addOn), fleet.Available(addOn)
	if available != nil && available.Status != metav1.ConditionTrue {
		if available.Reason != addonv1alpha1.AddonDegradedReasonRequiredDependencyNotSatisfied {
			f.found.FailingThemselves = append(f.found.FailingThemselves, Failing{Cluster: addOn.Namespace, AddOn: addOn.Name, Reason: available.Reason})
		} else if !isFailure(degraded) { // Degraded has changed, and Available has not followed yet
			degraded = &metav1.Condition{Status: metav1.ConditionTrue, Reason: available.Reason}
		}
	}
	switch {
	case condition.Outdated(degraded, findings):
		f.found.Outdated = append(f.found.Outdated, Failing{Cluster: addOn.Namespace, AddOn: addOn.Name, Reason: degraded.Reason})
	case isFailure(degraded) && slices.ContainsFunc(findings, evaluation.Finding.Held):
		f.found.LastKnown = append(f.found.LastKnown, Failing{Cluster: addOn.Namespace, AddOn: addOn.Name, Reason: degraded.Reason})
	}
}

// isFailure reports whether addon-manager has set Degraded because a dependency fails.
func isFailure(degraded *metav1.Condition) bool {
	return condition.Owned(degraded) && degraded.Status == metav1.ConditionTrue
}

// failingOptional are the Optional edges of an add-on that fail.
func failingOptional(addOn string, findings []evaluation.Finding) (failing []cause.Cause) {
	for i := range findings {
		if finding := &findings[i]; finding.Unsatisfied() && !finding.Blocks() {
			for one := range finding.Causes() {
				failing = append(failing, cause.Step{AddOn: addOn, Finding: one}.Cause())
			}
		}
	}
	return failing
}

// degradedSince is when addon-manager set Degraded, zero where it has not.
func degradedSince(addOn *addonv1alpha1.ManagedClusterAddOn) time.Time {
	degraded := fleet.Degraded(addOn)
	if !isFailure(degraded) {
		return time.Time{}
	}
	return degraded.LastTransitionTime.UTC()
}

func message(finding *evaluation.Finding) string {
	return condition.Message([]evaluation.Finding{*finding}, condition.MaxMessage)
}

// shared compares the affected clusters with the others that have one of the victims: on
// those, the same could fail.
func (f *finder) shared(ranked *cause.Ranked, affected []string) (shared []cause.Common, others int) {
	same := map[string]bool{}
	for _, victim := range ranked.Victims {
		for _, cluster := range f.installed[victim.AddOn] {
			same[cluster] = true
		}
	}
	var those, unaffected []cause.Traits
	for _, cluster := range slices.Sorted(maps.Keys(same)) {
		if _, is := slices.BinarySearch(affected, cluster); is {
			those = append(those, f.traits[cluster])
		} else {
			unaffected = append(unaffected, f.traits[cluster])
		}
	}
	return cause.Shared(those, unaffected), len(unaffected)
}

// unique are the names of labels and claims that have another value on every cluster.
var unique = []string{"clusterID", "name", "id.k8s.io", "id.openshift.io"}

// traitsOf are a cluster's labels, claims and version of Kubernetes.
func traitsOf(cluster *clusterv1.ManagedCluster) cause.Traits {
	traits := cause.Traits{}
	if cluster == nil {
		return traits
	}
	add := func(kind, name, value string) {
		if value != "" && !slices.Contains(unique, name) && !strings.HasPrefix(name, "feature.open-cluster-management.io/") {
			traits[strings.TrimSpace(kind+" "+name)] = value
		}
	}
	for name, value := range cluster.Labels {
		add("label", name, value)
	}
	for _, claim := range cluster.Status.ClusterClaims {
		add("claim", claim.Name, claim.Value)
	}
	add("Kubernetes", "", cluster.Status.Version.Kubernetes)
	return traits
}
