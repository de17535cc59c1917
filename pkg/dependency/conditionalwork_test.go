package dependency

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// gated is an edge that applies where the dependent itself has the label.
func gated(name, label string) addonv1alpha1.AddonDependency {
	edge := required(name)
	edge.When = &addonv1alpha1.DependencyWhen{Expression: "addOn.labels.?" + label + ".hasValue()"}
	return edge
}

// The cycles with the conditions of one cluster are those of a hub that
// declares only the edges that apply there.
func TestConditionalCyclesAreThoseOfTheEdgesThatApply(t *testing.T) {
	closed, open := 0, 0
	for seed := range uint64(500) {
		r := random(seed)
		var all, applying []addonv1alpha1.ClusterManagementAddOn
		size := 2 + r.IntN(6)
		for i := range size {
			with, without := randomGates(r, fmt.Sprintf("addon-%d", i), size)
			all, applying = append(all, with), append(applying, without)
		}
		conditional, plain := NewCatalog(all), NewCatalog(applying)
		observe := func(string) Observation { return Observation{Labels: map[string]string{"on": ""}} }
		for i := range all {
			name := all[i].Name
			k := conditional.knots[name]
			if k == nil {
				continue
			}
			got, want := k.cycles(name, &Cluster{}, observe), plain.Cycles(name)
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

// randomGates declares some edges, and then those of them that apply where the
// label "on" is set.
func randomGates(r *rand.Rand, name string, size int) (all, applying addonv1alpha1.ClusterManagementAddOn) {
	all, applying = registration(name), registration(name)
	for j := range 1 + r.IntN(3) {
		target := fmt.Sprintf("addon-%d", r.IntN(size))
		edge := required(target)
		applies := r.IntN(3) > 0
		switch {
		case !applies:
			edge = gated(target, "off")
		case r.IntN(2) == 0:
			edge = gated(target, "on")
		}
		edge.Name, edge.AddOn = fmt.Sprintf("%s-%d", target, j), target
		all.Spec.Dependencies = append(all.Spec.Dependencies, edge)
		if applies {
			edge.When = nil
			applying.Spec.Dependencies = append(applying.Spec.Dependencies, edge)
		}
	}
	return all, applying
}

// ring has conditional edges from each add-on to those that follow it.
func ring(size, edges int, label string) []addonv1alpha1.ClusterManagementAddOn {
	name := func(i int) string { return fmt.Sprintf("addon-%03d", i%size) }
	var addOns []addonv1alpha1.ClusterManagementAddOn
	for i := range size {
		addOn := registration(name(i))
		for j := range edges {
			addOn.Spec.Dependencies = append(addOn.Spec.Dependencies, gated(name(i+j+1), label))
		}
		addOns = append(addOns, addOn)
	}
	return addOns
}

// layers lead from addon-top to every middle one, from there to the last of
// the bottom ones alone, and from the bottom back to the top.
func layers(width int) []addonv1alpha1.ClusterManagementAddOn {
	top := registration("addon-top")
	addOns := []addonv1alpha1.ClusterManagementAddOn{}
	for i := range width {
		middle := registration(fmt.Sprintf("middle-%03d", i))
		for j := range width {
			label := "off"
			if j == width-1 {
				label = "on"
			}
			middle.Spec.Dependencies = append(middle.Spec.Dependencies, gated(fmt.Sprintf("bottom-%03d", j), label))
		}
		top.Spec.Dependencies = append(top.Spec.Dependencies, gated(middle.Name, "on"))
		addOns = append(addOns, middle, registration(fmt.Sprintf("bottom-%03d", i), gated(top.Name, "on")))
	}
	return append(addOns, top)
}

// A search for cycles evaluates only the conditions that it needs, each once:
// 200 add-ons with 100 conditional edges each have 20,000 of them.
func TestConditionsAreEvaluatedAtMostOnce(t *testing.T) {
	for name, tc := range map[string]struct {
		addOns []addonv1alpha1.ClusterManagementAddOn
		of     string
		cycles int
		limit  int // evaluations
	}{
		"NoneHolds": {ring(40, 16, "off"), "addon-000", 0, 16}, // its own edges, and no more
		"AllHold":   {ring(40, 16, "on"), "addon-000", 16, 16 + 40 + 16*3},
		"SomeHold":  {layers(16), "addon-top", 16, 16 + 16*16 + 16}, // all edges that there are
	} {
		t.Run(name, func(t *testing.T) {
			c, evaluated := NewCatalog(tc.addOns), 0
			observe := func(string) Observation { // once per evaluation, for the label
				evaluated++
				return Observation{Labels: map[string]string{"on": ""}}
			}
			cycles := c.knots[tc.of].cycles(tc.of, &Cluster{}, observe)
			if len(cycles) != tc.cycles {
				t.Errorf("%d cycles, want %d", len(cycles), tc.cycles)
			}
			if evaluated == 0 || evaluated > tc.limit {
				t.Errorf("%d evaluations, want at most %d", evaluated, tc.limit)
			}
		})
	}
}

func TestReviewCompilesADeclarationOnce(t *testing.T) {
	hub := conditionalHub(4, 3)
	var reviewer Reviewer
	compiled := func(addOn string) *expression {
		return reviewer.latest.Load().declarations[addOn].edges[0].when.expression
	}
	reviewer.Review(&hub[0], nil, hub[1:])
	before := compiled(hub[1].Name)
	added := registration("added", required(hub[1].Name))
	if review := reviewer.Review(&added, nil, hub); len(review.Denials) > 0 {
		t.Fatalf("denied: %v", review.Denials)
	}
	if compiled(hub[1].Name) != before {
		t.Error("compiled again although it has not changed")
	}
	hub[1].Spec.Dependencies = []addonv1alpha1.AddonDependency{gated(hub[2].Name, "on")}
	reviewer.Review(&added, nil, hub)
	if compiled(hub[1].Name) == before {
		t.Error("not compiled again after a change")
	}
}

func TestNumberOfExpressionsIsLimited(t *testing.T) {
	declared := func(expressions, selectors int) (addOn addonv1alpha1.ClusterManagementAddOn, annotation string) {
		addOn = registration("x")
		var text strings.Builder
		for i := range expressions + selectors {
			edge := gated(fmt.Sprintf("addon-%03d", i), "on")
			if i >= expressions {
				edge.When = &addonv1alpha1.DependencyWhen{ClusterSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"on": ""}}}
			} else {
				fmt.Fprintf(&text, "- {name: %s, when: {expression: %q}}\n", edge.Name, edge.When.Expression)
			}
			addOn.Spec.Dependencies = append(addOn.Spec.Dependencies, edge)
		}
		return addOn, text.String()
	}
	most, _ := declared(16, 100)
	if review := new(Reviewer).Review(&most, nil, nil); len(review.Denials) > 0 {
		t.Errorf("16 expressions and 100 selectors are denied: %v", review.Denials)
	}
	inField, text := declared(17, 0)
	for _, addOn := range []addonv1alpha1.ClusterManagementAddOn{inField, annotated("x", text)} {
		review := new(Reviewer).Review(&addOn, nil, nil)
		want := Declare(&addOn).Path + ": 17 dependencies have when.expression; at most 16 may"
		if len(review.Denials) != 1 || !strings.HasPrefix(review.Denials[0], want) {
			t.Errorf("denials %q, want %q", review.Denials, want)
		}
		if got := NewCatalog([]addonv1alpha1.ClusterManagementAddOn{addOn}).Evaluate("x", Cluster{}, func(string) Observation { return Observation{} }); len(got) != 17 || got[0].Verdict != NotApplicable {
			t.Errorf("one that is stored already is not evaluated: %v", got)
		}
	}
}
