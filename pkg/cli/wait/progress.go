package wait

import (
	"cmp"
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/condition"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation/cause"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/report"
)

// The goals of --for.
const (
	// goalSatisfied is that every dependency that counts is satisfied, and that Degraded is not True because of one.
	goalSatisfied = "satisfied"
	// goalAvailable is that the condition Available is True.
	goalAvailable = "available"
	// goalGone is that the add-on is not installed.
	goalGone = "gone"
)

var goals = []string{goalSatisfied, goalAvailable, goalGone}

const (
	// unreachableReason is the reason if the state of the managed cluster is not current.
	unreachableReason = "the managed cluster cannot be reached"
	// outdatedReason is the reason where addon-manager has not updated Degraded.
	outdatedReason = "Degraded is still True although its dependencies are satisfied; kubectl addon doctor checks addon-manager"
	// optionalSuffix ends a reason that kubectl addon why shows only for a single add-on on a single cluster.
	optionalSuffix = " (an Optional dependency)"
)

// target selects add-ons, and the goals that they have to reach. An empty field selects all.
type target struct {
	addOns  []string
	cluster string
	goals   []string
	// optional is whether Optional dependencies count, too.
	optional bool
	// addOnsByCluster selects add-ons, installed or not, by their managed clusters. Unless it is nil, it replaces addOns.
	addOnsByCluster map[string][]string
}

// waiting is an add-on that has not reached the goals, with the reason in one line.
type waiting struct {
	cluster, addOn string
	reason         string
}

// progress counts the clusters and add-ons of a fleet that have reached the goals.
type progress struct {
	clusters, okClusters int
	addOns, okAddOns     int
	// waiting is ordered by cluster and add-on.
	waiting []waiting
	// removing are add-ons that are being removed although others require them.
	removing []report.Removing
	// nextExpiry is the first time at which a verdict ceases to be held without any other change. It is zero without such a verdict.
	nextExpiry time.Time
}

// measure returns the progress of a fleet.
func measure(hub *snapshot.Snapshot, goal target) progress {
	var p progress
	for _, cluster := range hub.Names() {
		if cmp.Or(goal.cluster, cluster) == cluster {
			p.addCluster(hub, goal, cluster)
		}
	}
	for _, name := range goal.addOns {
		if goal.cluster == "" && !slices.Contains(goal.goals, goalGone) && !slices.ContainsFunc(hub.AddOns, hasName(name)) {
			p.addOns++
			p.waiting = append(p.waiting, waiting{addOn: name, reason: name + " is not installed on any managed cluster"})
		}
	}
	return p
}

func hasName(name string) func(*addonv1alpha1.ManagedClusterAddOn) bool {
	return func(addOn *addonv1alpha1.ManagedClusterAddOn) bool { return addOn.Name == name }
}

func (p *progress) addCluster(hub *snapshot.Snapshot, goal target, cluster string) {
	addOns := goal.addOnsOn(hub, cluster)
	if len(addOns) == 0 {
		return
	}
	p.clusters++
	findings, before := hub.Evaluated(cluster), len(p.waiting)
	if !slices.Contains(goal.goals, goalGone) {
		p.addRemoving(report.FindRemoving(hub, cluster, findings), addOns)
	}
	for _, addOn := range addOns {
		p.addOns++
		if reason := goal.reasonToWait(hub, types.NamespacedName{Namespace: cluster, Name: addOn}, findings); reason != "" {
			p.waiting = append(p.waiting, waiting{cluster: cluster, addOn: addOn, reason: reason})
			p.addExpiry(evaluation.HeldUntil(findings(addOn)))
			continue
		}
		p.okAddOns++
	}
	if len(p.waiting) == before {
		p.okClusters++
	}
}

// addRemoving adds the add-ons that are being removed although any of the selected add-ons requires them.
func (p *progress) addRemoving(removals []report.Removing, addOns []string) {
	for _, removal := range removals {
		isSelected := func(dependent string) bool { return slices.Contains(addOns, dependent) }
		if slices.ContainsFunc(removal.RequiredBy, isSelected) {
			p.removing = append(p.removing, removal)
		}
	}
}

func (p *progress) addExpiry(expiry time.Time) {
	if !expiry.IsZero() && (p.nextExpiry.IsZero() || expiry.Before(p.nextExpiry)) {
		p.nextExpiry = expiry
	}
}

// addOnsOn returns the names of the selected add-ons that are installed on a cluster. If the target names the cluster, it also
// returns the selected add-ons that are not installed there yet.
func (t target) addOnsOn(hub *snapshot.Snapshot, cluster string) []string {
	if t.addOnsByCluster != nil {
		return t.addOnsByCluster[cluster]
	}
	addOns := map[string]bool{}
	for _, installed := range hub.Installed(cluster) {
		if len(t.addOns) == 0 || slices.Contains(t.addOns, installed.Name) {
			addOns[installed.Name] = true
		}
	}
	if t.cluster != "" {
		for _, name := range t.addOns {
			addOns[name] = true
		}
	}
	return slices.Sorted(maps.Keys(addOns))
}

// reasonToWait explains in one line why an add-on has not reached the goals. It returns an empty string if the add-on has.
func (t target) reasonToWait(hub *snapshot.Snapshot, key types.NamespacedName, findings func(string) []evaluation.Finding) string {
	addOn := hub.AddOnOn(key)
	switch {
	case slices.Contains(t.goals, goalGone):
		return reasonInstalled(addOn)
	case addOn == nil:
		return key.Name + " is not installed"
	case hub.Lost(key.Namespace):
		return unreachableReason
	case addOn.DeletionTimestamp != nil:
		return addOn.Name + " is " + report.DeletionOf(addOn).String()
	}
	reason := ""
	if slices.Contains(t.goals, goalSatisfied) {
		reason = t.reasonUnsatisfied(addOn, findings)
	}
	if slices.Contains(t.goals, goalAvailable) {
		reason = cmp.Or(reason, reasonUnavailable(addOn))
	}
	return reason
}

func reasonInstalled(addOn *addonv1alpha1.ManagedClusterAddOn) string {
	switch {
	case addOn == nil:
		return ""
	case addOn.DeletionTimestamp != nil:
		return addOn.Name + " is " + report.DeletionOf(addOn).String()
	default:
		return addOn.Name + " is installed, and its deletion was not requested"
	}
}

// reasonUnsatisfied names the dependency that is not satisfied. It prefers the root cause.
func (t target) reasonUnsatisfied(addOn *addonv1alpha1.ManagedClusterAddOn, findings func(string) []evaluation.Finding) string {
	if paths := cause.Paths(addOn.Name, findings); len(paths) > 0 {
		return paths[0].Root().Cause().String()
	}
	held := ""
	for _, finding := range findings(addOn.Name) {
		switch {
		case !t.optional && !finding.Blocks():
		case finding.Unsatisfied():
			return cause.Step{AddOn: addOn.Name, Finding: &finding}.Cause().String() + optionalSuffix
		case finding.Held() && finding.Name() == "":
			held = "its dependencies are not known"
		case finding.Held():
			held = cmp.Or(held, reasonHeld(&finding))
		}
	}
	degraded := fleet.Degraded(addOn)
	if held == "" && condition.Outdated(degraded, findings(addOn.Name)) &&
		(t.optional || degraded.Reason != addonv1alpha1.AddonDegradedReasonDependencyNotSatisfied) {
		return outdatedReason
	}
	return held
}

// reasonHeld explains why the verdict on an edge is held.
func reasonHeld(finding *evaluation.Finding) string {
	reason := "it is not known yet whether " + finding.Target() + " satisfies it"
	if because := finding.HeldBecause(); because != "" {
		reason += ": " + because
	}
	return reason
}

func reasonUnavailable(addOn *addonv1alpha1.ManagedClusterAddOn) string {
	stored := fleet.Available(addOn)
	switch {
	case stored == nil:
		return addOn.Name + " has not reported Available yet"
	case stored.Status == metav1.ConditionTrue:
		return ""
	default:
		return cause.Cause{AddOn: addOn.Name, Verdict: evaluation.NotAvailable, Reason: stored.Reason}.String()
	}
}
