// Package cause finds why add-ons do not work: the edges at the end of each chain of
// failing dependencies, and what the managed clusters have in common on which they fail.
package cause

import (
	"slices"

	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
)

// Step is one edge on the way from an add-on to a root cause.
type Step struct {
	// AddOn is the dependent.
	AddOn   string
	Finding *evaluation.Finding
}

// Path is the way from an add-on to a root cause, which is its last step.
type Path []Step

// Root is the last step: the edge that fails by itself, and not because a dependency
// of its dependency fails.
func (p Path) Root() Step { return p[len(p)-1] }

// Paths returns, for each root cause of an add-on on one managed cluster, the shortest
// path to it, the first ones first in the order of declaration. Only edges without
// which an add-on cannot work count. findings returns those of an add-on on the same
// cluster, none for one that is not installed.
func Paths(addOn string, findings func(addOn string) []evaluation.Finding) []Path {
	var roots []Path
	seen := map[string]bool{addOn: true}
	causes := map[Cause]bool{}
	for level := stepsFrom(nil, addOn, findings(addOn)); len(level) > 0; {
		var next []*way
		for _, to := range level {
			isVictim := to.Finding.Follows()
			target, further := to.Finding.Target(), []*way(nil)
			if isVictim && !seen[target] {
				further = stepsFrom(to, target, findings(target))
			}
			switch {
			case len(further) > 0:
				seen[target] = true
				next = append(next, further...)
			case isVictim && seen[target]: // by a way that is no longer
			case !causes[to.Cause()]:
				causes[to.Cause()] = true
				roots = append(roots, to.path())
			}
		}
		level = next
	}
	return roots
}

// way is a path that shares all but its last step with others. Copies of the whole would
// make the time for a chain grow with the square of its length, for each of its add-ons.
type way struct {
	Step
	before *way
}

func (w *way) path() (path Path) {
	for step := w; step != nil; step = step.before {
		path = append(path, step.Step)
	}
	slices.Reverse(path)
	return path
}

// stepsFrom returns a way for each edge that fails, and without which the add-on cannot
// work. Where no alternative of an edge is satisfied, each is a way: the repair of any is one of the edge.
func stepsFrom(previous *way, addOn string, findings []evaluation.Finding) (ways []*way) {
	for i := range findings {
		if !findings[i].Unsatisfied() || !findings[i].Blocks() {
			continue
		}
		for finding := range findings[i].Causes() {
			ways = append(ways, &way{Step{AddOn: addOn, Finding: finding}, previous})
		}
	}
	return ways
}
