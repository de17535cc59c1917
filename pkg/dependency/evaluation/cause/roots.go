// Package cause finds why add-ons do not work: the edges at the end of each chain of
// failing dependencies, and what the managed clusters have in common on which they fail.
package cause

import (
	"slices"

	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
)

// Step is an edge on the path from an add-on to a root cause.
type Step struct {
	// AddOn is the dependent.
	AddOn   string
	Finding *evaluation.Finding
}

// Path leads from an add-on to a root cause, along failing edges. The root cause is its last step.
type Path []Step

// Root returns the last step. Its edge fails by itself, and not because a dependency of
// its dependency fails.
func (p Path) Root() Step { return p[len(p)-1] }

// Paths returns the shortest path to each root cause of an add-on on a managed cluster, in
// the order of declaration. Only edges without which an add-on cannot work count. findings
// returns the findings on the edges of an add-on on this cluster. It returns none for an
// add-on that is not installed.
func Paths(addOn string, findings func(addOn string) []evaluation.Finding) []Path {
	var roots []Path
	seen := map[string]bool{addOn: true}
	causes := map[Cause]bool{}
	for level := stepsFrom(nil, addOn, findings(addOn)); len(level) > 0; {
		var next []*node
		for _, to := range level {
			isVictim := to.Finding.Follows()
			target, further := to.Finding.Target(), []*node(nil)
			if isVictim && !seen[target] {
				further = stepsFrom(to, target, findings(target))
			}
			switch {
			case len(further) > 0:
				seen[target] = true
				next = append(next, further...)
			case isVictim && seen[target]: // another path to it is not longer
			case !causes[to.Cause()]:
				causes[to.Cause()] = true
				roots = append(roots, to.path())
			}
		}
		level = next
	}
	return roots
}

// node is the end of a path. Paths share their nodes: with copies, the time for a chain
// would grow with the square of its length, for each of its add-ons.
type node struct {
	Step
	previous *node
}

func (n *node) path() (path Path) {
	for step := n; step != nil; step = step.previous {
		path = append(path, step.Step)
	}
	slices.Reverse(path)
	return path
}

// stepsFrom returns a node for each failing edge without which the add-on cannot work. If no
// alternative of an edge is satisfied, each alternative has a node, because the repair of any
// repairs the edge.
func stepsFrom(previous *node, addOn string, findings []evaluation.Finding) (nodes []*node) {
	for i := range findings {
		if !findings[i].Unsatisfied() || !findings[i].Blocks() {
			continue
		}
		for finding := range findings[i].Causes() {
			nodes = append(nodes, &node{Step{AddOn: addOn, Finding: finding}, previous})
		}
	}
	return nodes
}
