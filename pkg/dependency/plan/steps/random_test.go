package steps_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/sets"

	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/plan/steps"
)

// random is a hub of 8 add-ons with random edges, and the names of those that it requires, by add-on.
func random(from *rand.Rand) (all hub, required map[string][]string) {
	all, required = hub{}, map[string][]string{}
	for i := range 8 {
		name, edges := string(rune('a'+i)), []string{}
		for j := range 8 {
			other := string(rune('a' + j))
			switch roll := from.IntN(12); {
			case roll == 0 && i != j, roll == 1 && j < i: // so that not all have cycles
				edges = append(edges, "{name: "+other+"}")
				required[name] = append(required[name], other)
			case roll == 2 && i != j:
				edges = append(edges, "{name: "+other+", type: Optional}")
			}
		}
		all[name] = needing(strings.Join(edges, ", "))
	}
	return all, required
}

// layersOf are the layers by add-on.
func layersOf(plan *steps.Plan) map[string]int {
	layers := map[string]int{}
	for i, layer := range plan.Layers {
		for _, step := range layer {
			layers[step.AddOn] = i + 1
		}
	}
	return layers
}

// A feasible plan for random declarations and installed add-ons installs all required add-ons in order, and no others. A second plan has
// no steps. The removal of the unit restores the add-ons that were there before.
func TestPlansAreCompleteAndOrdered(t *testing.T) {
	feasible := 0
	for seed := range uint64(2000) {
		from := rand.New(rand.NewPCG(seed, 0))
		all, required := random(from)
		var before []string
		for name := range all {
			if from.IntN(4) == 0 {
				before = append(before, name)
			}
		}
		slices.Sort(before)
		declared := all.evaluator(t)
		wanted := steps.Installation{AddOns: []string{"h"}, Optional: from.IntN(3) == 0}
		cluster := on("c1", strings.Join(before, " "))
		plan := steps.Install(declared, wanted, []steps.Cluster{cluster})
		if !plan.Feasible() {
			continue
		}
		feasible++
		for _, step := range slices.Concat(plan.Layers...) {
			needs := func(dependent string) bool { return slices.Contains(required[dependent], step.AddOn) }
			if step.AddOn != "h" && !wanted.Optional && !slices.ContainsFunc(step.Because, needs) {
				t.Fatalf("seed %d: %s is installed, and not required by %q: %v", seed, step.AddOn, step.Because, all)
			}
		}
		layers := layersOf(plan)
		for name, layer := range layers {
			for _, other := range required[name] {
				late := layers[other] == 0 || layers[other] >= layer
				if late && !slices.Contains(before, other) && !onCycle(declared, name, other) {
					t.Fatalf("seed %d: %s in layer %d requires %s in layer %d: %v", seed, name, layer, other, layers[other], all)
				}
			}
		}
		after := append([]string{}, before...)
		for name := range layers {
			after = append(after, name+"!")
		}
		done := on("c1", strings.Join(after, " "))
		if again := steps.Install(declared, wanted, []steps.Cluster{done}); len(again.Layers) > 0 {
			t.Fatalf("seed %d: left to install: %v", seed, linesOf(again))
		}
		checkRemoval(t, fmt.Sprintf("seed %d", seed), declared, done, required, layers)
	}
	if feasible < 200 {
		t.Errorf("only %d plans can be done", feasible)
	}
}

// checkRemoval removes h as a unit.
func checkRemoval(
	t *testing.T, name string, declared *evaluation.Evaluator, done steps.Cluster, required map[string][]string, installed map[string]int,
) {
	t.Helper()
	plan := steps.Remove(declared, steps.Removal{AddOns: []string{"h"}, Unit: true}, []steps.Cluster{done})
	removed := layersOf(plan)
	for gone, layer := range removed {
		if gone != "h" && installed[gone] == 0 {
			t.Fatalf("%s: %s is removed, and was there before", name, gone)
		}
		for dependent, others := range required {
			_, there := done.AddOns[dependent]
			if !there || !slices.Contains(others, gone) || dependent == gone || onCycle(declared, dependent, gone) {
				continue
			}
			if plan.Feasible() && (removed[dependent] == 0 || removed[dependent] >= layer) {
				t.Fatalf("%s: %s is removed in layer %d, and %s, which requires it, in layer %d", name, gone, layer, dependent, removed[dependent])
			}
		}
	}
}

func onCycle(declared *evaluation.Evaluator, one, other string) bool {
	return sets.New(declared.Cycles(one)[other]...).Has(one)
}
