package evaluation_test

import (
	"slices"
	"strings"
	"testing"

	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/test/fixture"
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
		"Applies": {
			reason: "both wait for each other here", catalog: "x: y!private, y: x", labels: "private", want: "y=Cycle",
			problem: declaration.ProblemConditionalCycle,
		},
		"DoesNot": {
			reason: "the cycle is open here", catalog: "x: y!private, y: x", want: "y=NotApplicable",
			problem: declaration.ProblemConditionalCycle,
		},
		"TheOthersEdge": {
			reason: "it is the other's condition that closes it", catalog: "x: y, y: x!private", labels: "private",
			want: "y=Cycle", problem: declaration.ProblemConditionalCycle,
		},
		"TheOthersOpen": {
			reason: "and that opens it", catalog: "x: y, y: x!private", want: "y=Satisfied",
			problem: declaration.ProblemConditionalCycle,
		},
		"OneOfTwo": {
			reason: "all conditions on the way must hold", catalog: "x: y!a, y: x!b", labels: "a", want: "y=Satisfied",
			problem: declaration.ProblemConditionalCycle,
		},
		"BothOfTwo": {
			reason: "and do", catalog: "x: y!a, y: x!b", labels: "a b", want: "y=Cycle",
			problem: declaration.ProblemConditionalCycle,
		},
		"OtherWay": {
			reason: "a longer cycle that applies, a shorter that does not", catalog: "x: y, y: x!a z, z: x", want: "y=Cycle",
			problem: declaration.ProblemCycle,
		},
		"SelfWhere": {
			reason: "on oneself, on some clusters", catalog: "x: x!private", labels: "private", want: "x=Cycle",
			problem: declaration.ProblemConditionalCycle,
		},
		"OfTheOther": {
			reason: "the condition looks at the other add-on", catalog: "x: y, y: x!@gold", own: map[string]string{"y": "gold"},
			want: "y=Cycle", problem: declaration.ProblemConditionalCycle,
		},
		"NotOfTheOther": {
			reason: "not at this one", catalog: "x: y, y: x!@gold", own: map[string]string{"x": "gold"}, want: "y=Satisfied",
			problem: declaration.ProblemConditionalCycle,
		},
		"Unconditional": {
			reason: "conditions elsewhere change nothing", catalog: "x: y, y: x z!private", want: "y=Cycle",
			problem: declaration.ProblemCycle,
		},
		"Optional": {
			reason: "an Optional edge waits for no add-on", catalog: "x: y!private, y: x?", labels: "private",
			want: "y=Satisfied",
		},
		"IfInstalled":   {reason: "nor does one that only asks for a version", catalog: "x: y, y: x%", want: "y=Satisfied"},
		"NotOnTheCycle": {reason: "leads to one, is on none", catalog: "x: y, y: z!private, z: y", labels: "private", want: "y=Satisfied"},
		"Alias": {
			reason: "a cycle is of add-ons, whatever an edge is called", catalog: "x: y!private, y: x", labels: "private",
			want: "y=Cycle", problem: declaration.ProblemConditionalCycle,
		},
		"ManyConditions": {
			reason: "more than are remembered", catalog: "x: y!a y!b, y: x!c x!d z!e z!f, z: x!g x!h y!i y!j", labels: "a c",
			want: "y=Cycle", problem: declaration.ProblemConditionalCycle,
		},
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
			for range 2 { // the second time from the cache
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
