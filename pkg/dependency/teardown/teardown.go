// Package teardown decides when an add-on that is being deleted may go from its managed cluster: after the add-ons there that depend on
// it and are being deleted as well. It has no clock and no client. The rules are those of lifecycle.md, "Removal".
package teardown

import (
	"slices"
	"time"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/graph"
)

const (
	// AtMost is how long an add-on waits for its dependents.
	AtMost = 10 * time.Minute
	// Together is how long an add-on waits for dependents that are not being deleted. Who deletes several add-ons deletes them one
	// after the other, in any order.
	Together = 3 * time.Second
)

// State is what is decided on.
type State struct {
	// Deleted is since when the add-on is being deleted.
	Deleted time.Time
	// Deleting are the add-ons on the managed cluster, and whether they are being deleted.
	Deleting map[string]bool
	// Findings are those of add-ons on the managed cluster, by which edges do not apply there, or are waived. Without any, what an add-on
	// declares counts, and so it does where it is not known which declaration applies.
	Findings map[string][]evaluation.Finding
	// Abandoned: the managed cluster is lost, detached or gone, so nothing can be removed from it in any order.
	Abandoned bool
}

// Decision is on an add-on that is being deleted.
type Decision struct {
	// Release: it waits no longer.
	Release bool
	// For are the dependents, ascending, that it waits for, or has waited for in vain.
	For []string
	// Stays: a dependent stays on the managed cluster.
	Stays bool
	// Again is when to decide again if nothing changes; zero: never.
	Again time.Time
}

// Late reports whether the add-on goes before its dependents, because it has waited for too long.
func (d Decision) Late() bool { return d.Release && len(d.For) > 0 }

// Dependents returns the add-ons, ascending, that go before an add-on: they declare an order, and one of their declarations has a
// Required edge on it, or on an API that it provides.
func Dependents(declared *catalog.Catalog, addOn string) (dependents []string) {
	for _, dependent := range declared.AddOns() {
		if dependent != addOn && follows(declared, dependent, addOn, nil) {
			dependents = append(dependents, dependent)
		}
	}
	return dependents
}

// follows reports whether a dependent is installed after an add-on, and removed before it, on a managed cluster where it has these findings.
func follows(declared *catalog.Catalog, dependent, addOn string, findings []evaluation.Finding) bool {
	if of := declared.Declaration(dependent); of.Invalid || of.Ordering == "" || of.Ordering == addonv1alpha1.OrderingNone {
		return false
	}
	if len(findings) > 0 && !slices.ContainsFunc(findings, unread) {
		return slices.ContainsFunc(findings, func(f evaluation.Finding) bool { return orders(declared, f, addOn) })
	}
	for _, one := range declared.Declarations(dependent) {
		for e := range one.Edges {
			for end := range one.Edges[e].Ends() {
				if end.Dependency.Type == addonv1alpha1.DependencyTypeRequired && slices.Contains(declared.Satisfying(&end.Dependency), addOn) {
					return true
				}
			}
		}
	}
	return false
}

// unread reports whether a finding is that it is not known what an add-on declares.
func unread(f evaluation.Finding) bool { return f.Dependency == nil && f.Requirement == nil }

// orders reports whether the edge of a finding asks for an order with an add-on. One that is waived, or does not apply, asks for nothing.
func orders(declared *catalog.Catalog, f evaluation.Finding, addOn string) bool {
	if f.Dependency == nil || f.Verdict == evaluation.Waived || f.Verdict == evaluation.NotApplicable {
		return false
	}
	return slices.ContainsFunc(evaluation.Named(f.Dependency), func(end evaluation.Finding) bool {
		return end.Dependency.Type == addonv1alpha1.DependencyTypeRequired && slices.Contains(declared.Satisfying(end.Dependency), addOn)
	})
}

// Decide decides on an add-on that is being deleted. Dependents that it depends on itself do not hold it: they would wait for each
// other.
func Decide(declared *catalog.Catalog, addOn string, state State, now time.Time) Decision {
	if state.Abandoned {
		return Decision{Release: true}
	}
	var deleting, staying []string
	before := order(declared, state)
	for _, dependent := range Dependents(declared, addOn) {
		switch is, there := state.Deleting[dependent]; {
		case !there || !follows(declared, dependent, addOn, state.Findings[dependent]) || slices.Contains(before.Reachable(dependent), addOn):
		case is:
			deleting = append(deleting, dependent)
		default:
			staying = append(staying, dependent)
		}
	}
	end, together := state.Deleted.Add(AtMost), state.Deleted.Add(Together)
	switch {
	case len(deleting) > 0 && now.Before(end):
		return Decision{For: deleting, Again: end}
	case len(deleting) > 0:
		return Decision{Release: true, For: deleting}
	case len(staying) > 0 && now.Before(together):
		return Decision{Stays: true, Again: together}
	}
	return Decision{Release: true, Stays: len(staying) > 0}
}

// order leads from each add-on on the managed cluster to those that go before it.
func order(declared *catalog.Catalog, state State) *graph.Graph {
	edges := make(map[string][]string, len(state.Deleting))
	for addOn := range state.Deleting {
		edges[addOn] = nil
		for dependent := range state.Deleting {
			if dependent != addOn && follows(declared, dependent, addOn, state.Findings[dependent]) {
				edges[addOn] = append(edges[addOn], dependent)
			}
		}
		slices.Sort(edges[addOn])
	}
	return graph.New(edges)
}
