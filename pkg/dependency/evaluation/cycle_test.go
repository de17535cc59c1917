package evaluation_test

import (
	"slices"
	"strings"
	"testing"

	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/fixture"
)

// A cycle counts where all of its edges apply: there its members would wait for
// each other, and nowhere else.
func TestConditionalCycles(t *testing.T) {
	cases := map[string]struct {
		reason, catalog string
		labels          string                    // of the cluster
		own             map[string]string         // label of an add-on
		want            string                    // the verdicts of x
		problem         declaration.ProblemReason // of x
	}{
		"Applies":        {"both wait for each other here", "x: y!private, y: x", "private", nil, "y=Cycle", declaration.ProblemConditionalCycle},
		"DoesNot":        {"the cycle is open here", "x: y!private, y: x", "", nil, "y=NotApplicable", declaration.ProblemConditionalCycle},
		"TheOthersEdge":  {"it is the other's condition that closes it", "x: y, y: x!private", "private", nil, "y=Cycle", declaration.ProblemConditionalCycle},
		"TheOthersOpen":  {"and that opens it", "x: y, y: x!private", "", nil, "y=Satisfied", declaration.ProblemConditionalCycle},
		"OneOfTwo":       {"all conditions on the way must hold", "x: y!a, y: x!b", "a", nil, "y=Satisfied", declaration.ProblemConditionalCycle},
		"BothOfTwo":      {"and do", "x: y!a, y: x!b", "a b", nil, "y=Cycle", declaration.ProblemConditionalCycle},
		"OtherWay":       {"a longer cycle that applies, a shorter that does not", "x: y, y: x!a z, z: x", "", nil, "y=Cycle", declaration.ProblemCycle},
		"SelfWhere":      {"on oneself, on some clusters", "x: x!private", "private", nil, "x=Cycle", declaration.ProblemConditionalCycle},
		"OfTheOther":     {"the condition looks at the other add-on", "x: y, y: x!@gold", "", map[string]string{"y": "gold"}, "y=Cycle", declaration.ProblemConditionalCycle},
		"NotOfTheOther":  {"not at this one", "x: y, y: x!@gold", "", map[string]string{"x": "gold"}, "y=Satisfied", declaration.ProblemConditionalCycle},
		"Unconditional":  {"conditions elsewhere change nothing", "x: y, y: x z!private", "", nil, "y=Cycle", declaration.ProblemCycle},
		"Optional":       {"an Optional edge waits for no add-on", "x: y!private, y: x?", "private", nil, "y=Satisfied", ""},
		"IfInstalled":    {"nor does one that only asks for a version", "x: y, y: x%", "", nil, "y=Satisfied", ""},
		"NotOnTheCycle":  {"leads to one, is on none", "x: y, y: z!private, z: y", "private", nil, "y=Satisfied", ""},
		"Alias":          {"a cycle is of add-ons, whatever an edge is called", "x: y!private, y: x", "private", nil, "y=Cycle", declaration.ProblemConditionalCycle},
		"ManyConditions": {"more than are remembered", "x: y!a y!b, y: x!c x!d z!e z!f, z: x!g x!h y!i y!j", "a c", nil, "y=Cycle", declaration.ProblemConditionalCycle},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			addOns := fixture.Conditional(tc.catalog)
			for i := range addOns { // each edge has a name of its own
				for j := range addOns[i].Spec.Dependencies {
					edge := &addOns[i].Spec.Dependencies[j]
					if edge.AddOn = edge.Name; j > 0 {
						edge.Name += strings.Repeat("'", j)
					}
				}
			}
			c := evaluator(addOns)
			cluster := evaluation.Cluster{Labels: map[string]string{}}
			for label := range strings.FieldsSeq(tc.labels) {
				cluster.Labels[label] = ""
			}
			observe := func(addOn string) evaluation.Observation {
				observed := running("1.0.0")
				if label, ok := tc.own[addOn]; ok {
					observed.Labels = map[string]string{label: ""}
				}
				return observed
			}
			for range 2 { // the second time from what is remembered
				findings := c.Evaluate("x", c.State("x", cluster, observe))
				if got := verdicts(findings[:1]); got != tc.want {
					t.Errorf("%s: got %s, want %s", tc.reason, got, tc.want)
				}
			}
			got := reasonsOf(c.Problems("x"))
			got = slices.DeleteFunc(got, func(r declaration.ProblemReason) bool { return r == declaration.ProblemNotRegistered })
			if tc.problem == "" && len(got) > 0 || tc.problem != "" && !slices.Contains(got, tc.problem) {
				t.Errorf("%s: problems %v, want %v", tc.reason, got, tc.problem)
			}
		})
	}
}
