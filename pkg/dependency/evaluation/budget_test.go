package evaluation

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/expression"
	"open-cluster-management.io/interlock/test/fixture"
)

func TestTheConditionsOfAnAddOnShareABudget(t *testing.T) {
	for _, test := range []struct {
		name                 string
		expensive, exceeding int
	}{
		{"one expensive condition", 1, 0},
		{"as many as there may be", 16, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			addOn := fixture.Registration("x")
			for i := range 20 {
				edge := fixture.Required(fmt.Sprintf("dependency-%02d", i))
				if i < test.expensive {
					edge.When = expensive
				}
				addOn.Spec.Dependencies = append(addOn.Spec.Dependencies, edge)
			}
			c := evaluator([]addonv1alpha1.ClusterManagementAddOn{addOn})
			exceeding := 0
			for _, finding := range c.Evaluate("x", State{Cluster: Cluster{Labels: fortyLabels()}}) {
				if finding.Verdict != NotInstalled {
					t.Errorf("%s: %s, want it to apply", finding.Dependency.Name, finding.Verdict)
				}
				if finding.Detail != nil && strings.Contains(finding.Detail.ConditionError, "together take too many steps") {
					exceeding++
				}
			}
			if (exceeding > 0) != (test.exceeding > 0) || exceeding == test.expensive {
				t.Errorf("%d conditions were not evaluated", exceeding)
			}
		})
	}
}

func TestAConditionalCycleIsSearchedWithinABudget(t *testing.T) {
	costly := ring(100, 16, "on")
	for i := range costly {
		for j := range costly[i].Spec.Dependencies {
			costly[i].Spec.Dependencies[j].When = expensive
		}
	}
	for name, test := range map[string]struct {
		addOns    []addonv1alpha1.ClusterManagementAddOn
		exhausted bool
	}{
		"8,000 expressions and 120,000 selectors": {fixture.ConditionalHub(500, 256), false},
		"1,600 expressions that take long":        {costly, true},
	} {
		t.Run(name, func(t *testing.T) {
			c := evaluator(test.addOns)
			addOn := test.addOns[0].Name
			state := c.State(addOn, Cluster{Labels: fortyLabels()},
				func(string) Observation { return Observation{Labels: map[string]string{"on": ""}} })
			work := &search{}
			first := findCycles(c.Catalog, addOn, &state, work)
			if spent := work.budget.spent; spent > 2*expression.CostLimit || test.exhausted != (spent > expression.CostLimit) {
				t.Errorf("spent %d", spent)
			}
			for range 3 {
				if second := findCycles(c.Catalog, addOn, &state, &search{}); !reflect.DeepEqual(second, first) {
					t.Errorf("first %v, then %v", first, second)
				}
			}
			findings := c.Evaluate(addOn, state)
			if findings[0].Detail != nil && findings[0].Detail.ConditionError != "" {
				t.Errorf("the cycle took the budget of the add-on's own conditions: %s", findings[0].Detail.ConditionError)
			}
		})
	}
}

var expensive = &addonv1alpha1.DependencyWhen{Expression: "cluster.labels.all(k, cluster.labels.all(l, k != '' && l != ''))"}

func fortyLabels() map[string]string {
	labels := map[string]string{"network": "private"}
	for i := range 39 {
		labels[fmt.Sprint(i)] = "on"
	}
	return labels
}
