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
				first = max(first, next[dependency]) // zero for the add-ons of the same cycle
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

// reverse returns the edges from dependencies to their dependents.
func reverse(edges map[string][]string) map[string][]string {
	dependents := make(map[string][]string, len(edges))
	for addOn, dependencies := range edges {
		if dependents[addOn] == nil {
			dependents[addOn] = nil // also an add-on without dependents has a key
		}
		for _, dependency := range dependencies {
			dependents[dependency] = append(dependents[dependency], addOn)
		}
	}
	return dependents
}

// awaitedBy returns the existing add-ons that an add-on waits for because of an edge. It is empty for an edge that does not order
// steps: an Optional, inapplicable or waived edge, a conflict, or an edge of a cycle.
func awaitedBy(evaluator *evaluation.Evaluator, finding *evaluation.Finding, exists func(addOn string) bool) []string {
	switch {
	case finding.Dependency == nil, !finding.Blocks(), declaration.Conflicts(finding.Dependency):
		return nil
	case finding.Verdict == evaluation.NotApplicable, finding.Verdict == evaluation.Waived, finding.Verdict == evaluation.Cycle:
		return nil
	}
	var addOns []string
	for _, end := range evaluation.Named(finding.Dependency) {
		for _, target := range evaluator.Satisfying(end.Dependency) {
			if exists(target) {
				addOns = append(addOns, target)
			}
		}
	}
	return addOns
}
