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

// random returns a hub of 8 add-ons with random edges, and the names of the required dependencies by add-on.
func random(source *rand.Rand) (addOns hub, required map[string][]string) {
	addOns, required = hub{}, map[string][]string{}
	for i := range 8 {
		name, edges := string(rune('a'+i)), []string{}
		for j := range 8 {
			dependency := string(rune('a' + j))
			switch roll := source.IntN(12); {
			case roll == 0 && i != j, roll == 1 && j < i: // some hubs have no cycle
				edges = append(edges, "{name: "+dependency+"}")
				required[name] = append(required[name], dependency)
			case roll == 2 && i != j:
				edges = append(edges, "{name: "+dependency+", type: Optional}")
			}
		}
		addOns[name] = needing(strings.Join(edges, ", "))
	}
	return addOns, required
}

// layersOf returns the numbers of the layers by add-on.
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
// no steps. The removal of the unit restores the add-ons that were installed before.
func TestPlansAreCompleteAndOrdered(t *testing.T) {
	feasible := 0
	for seed := range uint64(2000) {
		source := rand.New(rand.NewPCG(seed, 0))
		addOns, required := random(source)
		var installed []string
		for name := range addOns {
			if source.IntN(4) == 0 {
				installed = append(installed, name)
			}
		}
		slices.Sort(installed)
		declared := addOns.evaluator(t)
		installation := steps.Installation{AddOns: []string{"h"}, Optional: source.IntN(3) == 0}
		cluster := clusterWith("c1", strings.Join(installed, " "))
		plan := steps.Install(declared, installation, []steps.Cluster{cluster})
		if !plan.Feasible() {
			continue
		}
		feasible++
		for _, step := range slices.Concat(plan.Layers...) {
			needs := func(dependent string) bool { return slices.Contains(required[dependent], step.AddOn) }
			if step.AddOn != "h" && !installation.Optional && !slices.ContainsFunc(step.Because, needs) {
				t.Fatalf("seed %d: %s is installed, and not required by %q: %v", seed, step.AddOn, step.Because, addOns)
			}
		}
		layers := layersOf(plan)
		for name, layer := range layers {
			for _, dependency := range required[name] {
				late := layers[dependency] == 0 || layers[dependency] >= layer
				if late && !slices.Contains(installed, dependency) && !onCycle(declared, name, dependency) {
					t.Fatalf("seed %d: %s in layer %d requires %s in layer %d: %v", seed, name, layer, dependency, layers[dependency], addOns)
				}
			}
		}
		completed := append([]string{}, installed...)
		for name := range layers {
			completed = append(completed, name+"!")
		}
		finished := clusterWith("c1", strings.Join(completed, " "))
		if secondPlan := steps.Install(declared, installation, []steps.Cluster{finished}); len(secondPlan.Layers) > 0 {
			t.Fatalf("seed %d: left to install: %v", seed, linesOf(secondPlan))
		}
		checkRemoval(t, fmt.Sprintf("seed %d", seed), declared, finished, required, layers)
	}
	if feasible < 200 {
		t.Errorf("only %d plans can be done", feasible)
	}
}

// checkRemoval removes h as a unit.
func checkRemoval(
	t *testing.T, name string, declared *evaluation.Evaluator, finished steps.Cluster, required map[string][]string, installed map[string]int,
) {
	t.Helper()
	plan := steps.Remove(declared, steps.Removal{AddOns: []string{"h"}, Unit: true}, []steps.Cluster{finished})
	removed := layersOf(plan)
	for addOn, layer := range removed {
		if addOn != "h" && installed[addOn] == 0 {
			t.Fatalf("%s: %s is removed, and was there before", name, addOn)
		}
		for dependent, others := range required {
			_, ok := finished.AddOns[dependent]
			if !ok || !slices.Contains(others, addOn) || dependent == addOn || onCycle(declared, dependent, addOn) {
				continue
			}
			if plan.Feasible() && (removed[dependent] == 0 || removed[dependent] >= layer) {
				t.Fatalf("%s: %s is removed in layer %d, and %s, which requires it, in layer %d", name, addOn, layer, dependent, removed[dependent])
			}
		}
	}
}

func onCycle(declared *evaluation.Evaluator, dependent, dependency string) bool {
	return sets.New(declared.Cycles(dependent)[dependency]...).Has(dependent)
}
