// Package teardown decides when an add-on that is being deleted is removed from its managed cluster: after the add-ons
// there that depend on it and are being deleted too. It has no clock and no client.
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
	// MaxWait is the time that an add-on waits for its dependents at most.
	MaxWait = 10 * time.Minute
	// BatchTime is the time that an add-on waits for dependents that are not being deleted. A user who deletes several
	// add-ons deletes them one after the other, in any order.
	BatchTime = 3 * time.Second
)

// State is the input of a decision.
type State struct {
	// Deleted is the time of the add-on's deletion.
	Deleted time.Time
	// Deleting has the add-ons on the managed cluster. The value is true if the add-on is being deleted.
	Deleting map[string]bool
	// Findings has the findings on add-ons of the managed cluster. They show the edges that are waived or do not apply
	// there. Without findings, or with an unknown declaration, all declared edges count.
	Findings map[string][]evaluation.Finding
	// Abandoned is true if the managed cluster is lost, detached or deleted, so no order of removals is possible.
	Abandoned bool
}

// Decision is the decision on an add-on that is being deleted.
type Decision struct {
	// Release is true if the add-on no longer waits.
	Release bool
	// Dependents has the dependents that it waits for, or has waited for too long, in ascending order.
	Dependents []string
	// Stays is true if a dependent stays on the managed cluster.
	Stays bool
	// NextCheck is the time of the next decision without a change. It is zero if there is none.
	NextCheck time.Time
}

// Late reports whether the add-on is removed before its dependents, because it has waited for too long.
func (d Decision) Late() bool { return d.Release && len(d.Dependents) > 0 }

// Dependents returns the add-ons that are removed before an add-on, in ascending order. They declare an order, and one of
// their declarations has a Required edge on the add-on, or on an API that it provides.
func Dependents(c *catalog.Catalog, addOn string) []string {
	var dependents []string
	for _, dependent := range c.AddOns() {
		if dependent != addOn && follows(c, dependent, addOn, nil) {
			dependents = append(dependents, dependent)
		}
	}
	return dependents
}

// follows reports whether a dependent is installed after an add-on and removed before it, on a managed cluster with these
// findings on the dependent.
func follows(c *catalog.Catalog, dependent, addOn string, findings []evaluation.Finding) bool {
	if d := c.Declaration(dependent); d.Invalid || d.Ordering == "" || d.Ordering == addonv1alpha1.OrderingNone {
		return false
	}
	if len(findings) > 0 && !slices.ContainsFunc(findings, unread) {
		return slices.ContainsFunc(findings, func(f evaluation.Finding) bool { return orders(c, f, addOn) })
	}
	for _, d := range c.Declarations(dependent) {
		for e := range d.Edges {
			for end := range d.Edges[e].Ends() {
				if end.Dependency.Type == addonv1alpha1.DependencyTypeRequired && slices.Contains(c.Satisfying(&end.Dependency), addOn) {
					return true
				}
			}
		}
	}
	return false
}

// unread reports whether a finding means that the declaration of the add-on is unknown.
func unread(f evaluation.Finding) bool { return f.Dependency == nil && f.Requirement == nil }

// orders reports whether the edge of a finding orders the dependent after an add-on. An edge that is waived or does not
// apply has no order.
func orders(c *catalog.Catalog, f evaluation.Finding, addOn string) bool {
	if f.Dependency == nil || f.Verdict == evaluation.Waived || f.Verdict == evaluation.NotApplicable {
		return false
	}
	return slices.ContainsFunc(evaluation.Named(f.Dependency), func(end evaluation.Finding) bool {
		return end.Dependency.Type == addonv1alpha1.DependencyTypeRequired && slices.Contains(c.Satisfying(end.Dependency), addOn)
	})
}

// Decide decides on an add-on that is being deleted. It does not wait for dependents that it depends on itself, because
// they would wait for each other.
func Decide(c *catalog.Catalog, addOn string, state State, now time.Time) Decision {
	if state.Abandoned {
		return Decision{Release: true}
	}
	var deleting, staying []string
	g := order(c, state)
	for _, dependent := range Dependents(c, addOn) {
		switch isDeleted, exists := state.Deleting[dependent]; {
		case !exists || !follows(c, dependent, addOn, state.Findings[dependent]) || slices.Contains(g.Reachable(dependent), addOn):
		case isDeleted:
			deleting = append(deleting, dependent)
		default:
			staying = append(staying, dependent)
		}
	}
	end, batchEnd := state.Deleted.Add(MaxWait), state.Deleted.Add(BatchTime)
	switch {
	case len(deleting) > 0 && now.Before(end):
		return Decision{Dependents: deleting, NextCheck: end}
	case len(deleting) > 0:
		return Decision{Release: true, Dependents: deleting}
	case len(staying) > 0 && now.Before(batchEnd):
		return Decision{Stays: true, NextCheck: batchEnd}
	}
	return Decision{Release: true, Stays: len(staying) > 0}
}

// order returns the graph from each add-on on the managed cluster to the add-ons that are removed before it.
func order(c *catalog.Catalog, state State) *graph.Graph {
	edges := make(map[string][]string, len(state.Deleting))
	for addOn := range state.Deleting {
		edges[addOn] = nil
		for dependent := range state.Deleting {
			if dependent != addOn && follows(c, dependent, addOn, state.Findings[dependent]) {
				edges[addOn] = append(edges[addOn], dependent)
			}
		}
		slices.Sort(edges[addOn])
	}
	return graph.New(edges)
}
