package wait

import (
	"cmp"
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/cause"
	"open-cluster-management.io/interlock/pkg/dependency/condition"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
)

// The goals of --for.
const (
	// satisfied: every dependency that counts is, and Degraded is not True for one that does.
	satisfied = "satisfied"
	// available: the condition Available is True.
	available = "available"
	// gone: the add-on is not installed.
	gone = "gone"
)

// unreachable is the reason where nothing new is known of a managed cluster.
const unreachable = "the managed cluster cannot be reached"

const (
	// outdated is the reason where addon-manager has not updated Degraded.
	outdated = "Degraded is still True although its dependencies are satisfied; kubectl addon doctor checks addon-manager"
	// isOptional is the end of a reason that why names only for one add-on on one cluster.
	isOptional = " (an Optional dependency)"
)

var goals = []string{satisfied, available, gone}

// target is what is waited for. Empty fields: all.
type target struct {
	addOns  []string
	cluster string
	goals   []string
	// optional: Optional dependencies count, too.
	optional bool
	// only has the add-ons by their managed clusters, installed or not; nil: addOns and cluster count.
	only map[string][]string
}

// waiting is an add-on that is not there yet.
type waiting struct {
	cluster, addOn string
	// why is one line.
	why string
}

// progress is how far a fleet is.
type progress struct {
	clusters, okClusters int
	addOns, okAddOns     int
	// waiting is ordered by cluster and add-on.
	waiting []waiting
	// until is when a verdict that is held ends by itself; zero if none does.
	until time.Time
}

// measure finds how far a fleet is.
func measure(of *snapshot.Snapshot, to target) progress {
	var p progress
	for _, cluster := range of.Names() {
		if cmp.Or(to.cluster, cluster) == cluster {
			p.look(of, to, cluster)
		}
	}
	for _, name := range to.addOns {
		if to.cluster == "" && !slices.Contains(to.goals, gone) && !slices.ContainsFunc(of.AddOns, named(name)) {
			p.addOns++
			p.waiting = append(p.waiting, waiting{addOn: name, why: name + " is not installed on any managed cluster"})
		}
	}
	return p
}

func named(name string) func(addonv1alpha1.ManagedClusterAddOn) bool {
	return func(addOn addonv1alpha1.ManagedClusterAddOn) bool { return addOn.Name == name }
}

// look adds a managed cluster.
func (p *progress) look(of *snapshot.Snapshot, to target, cluster string) {
	addOns := to.on(of, cluster)
	if len(addOns) == 0 {
		return
	}
	p.clusters++
	findings, before := of.Evaluated(cluster), len(p.waiting)
	for _, addOn := range addOns {
		p.addOns++
		if why := to.missing(of, types.NamespacedName{Namespace: cluster, Name: addOn}, findings); why != "" {
			p.waiting = append(p.waiting, waiting{cluster: cluster, addOn: addOn, why: why})
			p.hold(evaluation.HeldUntil(findings(addOn)))
			continue
		}
		p.okAddOns++
	}
	if len(p.waiting) == before {
		p.okClusters++
	}
}

func (p *progress) hold(until time.Time) {
	if !until.IsZero() && (p.until.IsZero() || until.Before(p.until)) {
		p.until = until
	}
}

// on are the add-ons on a cluster that count: those that are installed, and with a
// named cluster those that are to be.
func (t target) on(of *snapshot.Snapshot, cluster string) []string {
	if t.only != nil {
		return t.only[cluster]
	}
	addOns := map[string]bool{}
	for _, installed := range of.Installed(cluster) {
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

// missing says in one line why an add-on has not reached the goals, empty if it has.
func (t target) missing(of *snapshot.Snapshot, key types.NamespacedName, findings func(string) []evaluation.Finding) string {
	addOn := of.AddOnOn(key)
	switch {
	case slices.Contains(t.goals, gone):
		return remains(addOn)
	case addOn == nil:
		return key.Name + " is not installed"
	case of.Lost(key.Namespace):
		return unreachable
	}
	why := ""
	if slices.Contains(t.goals, satisfied) {
		why = t.unsatisfied(addOn, findings)
	}
	if slices.Contains(t.goals, available) {
		why = cmp.Or(why, unavailable(addOn))
	}
	return why
}

func remains(addOn *addonv1alpha1.ManagedClusterAddOn) string {
	switch {
	case addOn == nil:
		return ""
	case addOn.DeletionTimestamp != nil:
		return addOn.Name + " is being deleted, since " + addOn.DeletionTimestamp.UTC().Format(time.RFC3339)
	default:
		return addOn.Name + " is installed, and its deletion was not requested"
	}
}

// unsatisfied says which dependency is not satisfied: the root cause, where there is one.
func (t target) unsatisfied(addOn *addonv1alpha1.ManagedClusterAddOn, findings func(string) []evaluation.Finding) string {
	if paths := cause.Paths(addOn.Name, findings); len(paths) > 0 {
		return paths[0].Root().Cause().String()
	}
	held := ""
	for _, finding := range findings(addOn.Name) {
		switch {
		case !t.optional && !finding.Blocks():
		case finding.Unsatisfied():
			return cause.Step{AddOn: addOn.Name, Finding: &finding}.Cause().String() + isOptional
		case finding.Held() && finding.Name() == "":
			held = "its dependencies are not known"
		case finding.Held():
			held = cmp.Or(held, notKnown(&finding))
		}
	}
	degraded := fleet.Degraded(addOn)
	if held == "" && condition.Outdated(degraded, findings(addOn.Name)) &&
		(t.optional || degraded.Reason != addonv1alpha1.AddonDegradedReasonDependencyNotSatisfied) {
		return outdated
	}
	return held
}

// notKnown says that it is not known whether an edge is satisfied, and why.
func notKnown(finding *evaluation.Finding) string {
	known := "it is not known yet whether " + finding.Target() + " satisfies it"
	if because := finding.HeldBecause(); because != "" {
		known += ": " + because
	}
	return known
}

func unavailable(addOn *addonv1alpha1.ManagedClusterAddOn) string {
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
