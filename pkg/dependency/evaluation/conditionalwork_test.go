package evaluation

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/test/fixture"
)

// The cycles with the conditions of one cluster equal the cycles of a hub that declares only the edges that apply there.
func TestConditionalCyclesDependOnTheEdgesThatApply(t *testing.T) {
	closed, open := 0, 0
	for seed := range uint64(500) {
		r := fixture.Random(seed)
		var gated, applying []addonv1alpha1.ClusterManagementAddOn
		size := 2 + r.IntN(6)
		for i := range size {
			conditional, unconditional := randomGates(r, fmt.Sprintf("addon-%d", i), size)
			gated, applying = append(gated, conditional), append(applying, unconditional)
		}
		conditional, plain := evaluator(gated), evaluator(applying)
		for i := range gated {
			name := gated[i].Name
			if conditional.Conditional(name) == nil {
				continue
			}
			got, want := findCycles(conditional.Catalog, name, labeled(conditional, name), &search{}), plain.Cycles(name)
			if !maps.EqualFunc(got, want, slices.Equal) {
				t.Fatalf("seed %d, %s: got %v, want %v", seed, name, got, want)
			}
			if len(want) > 0 {
				closed++
			} else {
				open++
			}
		}
	}
	if closed < 100 || open < 100 {
		t.Errorf("%d add-ons are on a cycle and %d are not: too few to compare", closed, open)
	}
}

// randomGates returns an add-on with some edges, and the add-on with only those edges that apply if the label "on" is set.
func randomGates(r *rand.Rand, name string, size int) (gated, applying addonv1alpha1.ClusterManagementAddOn) {
	gated, applying = fixture.Registration(name), fixture.Registration(name)
	for j := range 1 + r.IntN(3) {
		target := fmt.Sprintf("addon-%d", r.IntN(size))
		edge := fixture.Required(target)
		applies := r.IntN(3) > 0
		switch {
		case !applies:
			edge = fixture.Gated(target, "off")
		case r.IntN(2) == 0:
			edge = fixture.Gated(target, "on")
		}
		edge.Name, edge.AddOn = fmt.Sprintf("%s-%d", target, j), target
		gated.Spec.Dependencies = append(gated.Spec.Dependencies, edge)
		if applies {
			edge.When = nil
			applying.Spec.Dependencies = append(applying.Spec.Dependencies, edge)
		}
	}
	return gated, applying
}

// ring has conditional edges from each add-on to those that follow it.
func ring(size, edges int, label string) []addonv1alpha1.ClusterManagementAddOn {
	name := func(i int) string { return fmt.Sprintf("addon-%03d", i%size) }
	var addOns []addonv1alpha1.ClusterManagementAddOn
	for i := range size {
		addOn := fixture.Registration(name(i))
		for j := range edges {
			addOn.Spec.Dependencies = append(addOn.Spec.Dependencies, fixture.Gated(name(i+j+1), label))
		}
		addOns = append(addOns, addOn)
	}
	return addOns
}

// layers lead from addon-top to every middle one, from there to the last of
// the bottom ones alone, and from the bottom back to the top.
func layers(width int) []addonv1alpha1.ClusterManagementAddOn {
	top := fixture.Registration("addon-top")
	addOns := []addonv1alpha1.ClusterManagementAddOn{}
	for i := range width {
		middle := fixture.Registration(fmt.Sprintf("middle-%03d", i))
		for j := range width {
			label := "off"
			if j == width-1 {
				label = "on"
			}
			middle.Spec.Dependencies = append(middle.Spec.Dependencies, fixture.Gated(fmt.Sprintf("bottom-%03d", j), label))
		}
		top.Spec.Dependencies = append(top.Spec.Dependencies, fixture.Gated(middle.Name, "on"))
		addOns = append(addOns, middle, fixture.Registration(fmt.Sprintf("bottom-%03d", i), fixture.Gated(top.Name, "on")))
	}
	return append(addOns, top)
}

// labeled is a cluster on which every add-on has the label on.
func labeled(e *Evaluator, addOn string) *State {
	state := e.State(addOn, Cluster{}, func(string) Observation { return Observation{Labels: map[string]string{"on": ""}} })
	return &state
}

// A search for cycles evaluates only the conditions that it needs, each once:
// 200 add-ons with 100 conditional edges each have 20,000 of them.
func TestConditionsAreEvaluatedAtMostOnce(t *testing.T) {
	for name, tc := range map[string]struct {
		addOns []addonv1alpha1.ClusterManagementAddOn
		source string
		cycles int
		limit  int // evaluations
	}{
		"NoneHolds": {ring(40, 16, "off"), "addon-000", 0, 16}, // its own edges, and no more
		"AllHold":   {ring(40, 16, "on"), "addon-000", 16, 16 + 40 + 16*3},
		"SomeHold":  {layers(16), "addon-top", 16, 16 + 16*16 + 16}, // all edges that there are
	} {
		t.Run(name, func(t *testing.T) {
			c, evaluated := evaluator(tc.addOns), 0
			var b budget
			state := labeled(c, tc.source)
			cycles := c.Conditional(tc.source).Cycles(tc.source, func(dependent string, condition catalog.Condition) bool {
				evaluated++
				ok, err := applies(c.Catalog, condition.When, dependent, state, &b)
				return ok && err == nil
			})
			if len(cycles) != tc.cycles {
				t.Errorf("%d cycles, want %d", len(cycles), tc.cycles)
			}
			if evaluated == 0 || evaluated > tc.limit {
				t.Errorf("%d evaluations, want at most %d", evaluated, tc.limit)
			}
		})
	}
}
