package cause

import (
	"cmp"
	"slices"

	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
)

// FailingEdge is an edge without which its add-on cannot work, and which is unsatisfied.
type FailingEdge struct {
	// Target is what it is on, see evaluation.Finding.Target.
	Target  string
	Verdict evaluation.Verdict
	// Follows is set where a dependency of the target fails, so the target is a victim.
	Follows bool
}

// Root is a dependency that fails by itself on one managed cluster.
type Root struct {
	Target  string
	Verdict evaluation.Verdict
	// Victims are how many add-ons there cannot work because of it, directly or not.
	Victims int
}

// Roots finds the root causes on one managed cluster, in the order of their names.
// failing has the failing edges of the add-ons there. An add-on with several causes is
// a victim of each. A target counts as the cause if it is a victim whose own cause is not
// known yet.
func Roots(failing map[string][]FailingEdge) []Root {
	victims := map[Root]int{}
	for addOn := range failing {
		roots := map[Root]bool{}
		collect(addOn, failing, map[string]bool{}, roots)
		for root := range roots {
			victims[root]++
		}
	}
	found := make([]Root, 0, len(victims))
	for root, count := range victims {
		root.Victims = count
		found = append(found, root)
	}
	slices.SortFunc(found, func(a, b Root) int {
		return cmp.Or(cmp.Compare(a.Target, b.Target), cmp.Compare(a.Verdict, b.Verdict))
	})
	return found
}

// collect adds the causes of the add-on to roots. seen has those that were visited.
func collect(addOn string, failing map[string][]FailingEdge, seen map[string]bool, roots map[Root]bool) {
	seen[addOn] = true
	for _, edge := range failing[addOn] {
		switch {
		case !edge.Follows || len(failing[edge.Target]) == 0:
			roots[Root{Target: edge.Target, Verdict: edge.Verdict}] = true
		case !seen[edge.Target]:
			collect(edge.Target, failing, seen, roots)
		}
	}
}
