package steps

import (
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/graph"
)

// layersOf returns the layers, from 0, of the add-ons with a step: each comes after all with a step that its edges lead to,
// directly or through others. Add-ons on a cycle share a layer.
func layersOf(edges map[string][]string, hasStep func(addOn string) bool) map[string]int {
	ordered, layers, next := graph.New(edges), map[string]int{}, map[string]int{}
	for _, together := range ordered.Order() {
		first, step := 0, 0
		for _, addOn := range together {
			for _, dependency := range ordered.Dependencies(addOn) {
				first = max(first, next[dependency]) // zero for those that come together
			}
			if hasStep(addOn) {
				step = 1
			}
		}
		for _, addOn := range together {
			if next[addOn] = first + step; hasStep(addOn) {
				layers[addOn] = first
			}
		}
	}
	return layers
}

// reversed are the edges from dependencies to their dependents.
func reversed(edges map[string][]string) map[string][]string {
	turned := make(map[string][]string, len(edges))
	for from, all := range edges {
		if turned[from] == nil {
			turned[from] = nil // it may have no dependents
		}
		for _, to := range all {
			turned[to] = append(turned[to], from)
		}
	}
	return turned
}

// waitsFor are the add-ons there that an add-on waits for because of an edge. An Optional one does not order, nor does one that
// does not apply, is waived, or is on a cycle.
func waitsFor(declared *evaluation.Evaluator, finding *evaluation.Finding, isThere func(addOn string) bool) (addOns []string) {
	switch {
	case finding.Dependency == nil, !finding.Blocks(), declaration.Conflicts(finding.Dependency):
		return nil
	case finding.Verdict == evaluation.NotApplicable, finding.Verdict == evaluation.Waived, finding.Verdict == evaluation.Cycle:
		return nil
	}
	for _, end := range evaluation.Named(finding.Dependency) {
		for _, target := range declared.Satisfying(end.Dependency) {
			if isThere(target) {
				addOns = append(addOns, target)
			}
		}
	}
	return addOns
}
