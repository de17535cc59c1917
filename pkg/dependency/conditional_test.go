package dependency

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// conditionalSpecs reads "a: b!private c, b: a": a requires b where the cluster
// has the label private, and c everywhere; b% is IfInstalled, b? Optional.
func conditionalSpecs(t *testing.T, text string) []addonv1alpha1.ClusterManagementAddOn {
	t.Helper()
	var addOns []addonv1alpha1.ClusterManagementAddOn
	for entry := range strings.SplitSeq(text, ",") {
		name, edges, _ := strings.Cut(strings.TrimSpace(entry), ":")
		addOn := registration(name)
		for edge := range strings.FieldsSeq(edges) {
			target, condition, _ := strings.Cut(edge, "!")
			dependency := required(strings.TrimRight(target, "?%"))
			switch {
			case strings.HasSuffix(target, "?"):
				dependency.Type = addonv1alpha1.DependencyTypeOptional
			case strings.HasSuffix(target, "%"):
				dependency.Type, dependency.Version = addonv1alpha1.DependencyTypeIfInstalled, ">= 1"
			}
			switch {
			case strings.HasPrefix(condition, "@"): // the dependent's own label
				dependency.When = &addonv1alpha1.DependencyWhen{Expression: "addOn.labels.?" + condition[1:] + ".hasValue()"}
			case condition != "":
				dependency.When = &addonv1alpha1.DependencyWhen{ClusterSelector: &metav1.LabelSelector{MatchLabels: map[string]string{condition: ""}}}
			}
			addOn.Spec.Dependencies = append(addOn.Spec.Dependencies, dependency)
		}
		addOns = append(addOns, addOn)
	}
	return addOns
}

// A cycle counts where all of its edges apply: there its members would wait for
// each other, and nowhere else.
func TestConditionalCycles(t *testing.T) {
	cases := map[string]struct {
		reason, catalog string
		labels          string            // of the cluster
		own             map[string]string // label of an add-on
		want            string            // the verdicts of x
		problem         ProblemReason     // of x
	}{
		"Applies":        {"both wait for each other here", "x: y!private, y: x", "private", nil, "y=Cycle", ProblemConditionalCycle},
		"DoesNot":        {"the cycle is open here", "x: y!private, y: x", "", nil, "y=NotApplicable", ProblemConditionalCycle},
		"TheOthersEdge":  {"it is the other's condition that closes it", "x: y, y: x!private", "private", nil, "y=Cycle", ProblemConditionalCycle},
		"TheOthersOpen":  {"and that opens it", "x: y, y: x!private", "", nil, "y=Satisfied", ProblemConditionalCycle},
		"OneOfTwo":       {"all conditions on the way must hold", "x: y!a, y: x!b", "a", nil, "y=Satisfied", ProblemConditionalCycle},
		"BothOfTwo":      {"and do", "x: y!a, y: x!b", "a b", nil, "y=Cycle", ProblemConditionalCycle},
		"OtherWay":       {"a longer cycle that applies, a shorter that does not", "x: y, y: x!a z, z: x", "", nil, "y=Cycle", ProblemCycle},
		"SelfWhere":      {"on oneself, on some clusters", "x: x!private", "private", nil, "x=Cycle", ProblemConditionalCycle},
		"OfTheOther":     {"the condition looks at the other add-on", "x: y, y: x!@gold", "", map[string]string{"y": "gold"}, "y=Cycle", ProblemConditionalCycle},
		"NotOfTheOther":  {"not at this one", "x: y, y: x!@gold", "", map[string]string{"x": "gold"}, "y=Satisfied", ProblemConditionalCycle},
		"Unconditional":  {"conditions elsewhere change nothing", "x: y, y: x z!private", "", nil, "y=Cycle", ProblemCycle},
		"Optional":       {"an Optional edge waits for nobody", "x: y!private, y: x?", "private", nil, "y=Satisfied", ""},
		"IfInstalled":    {"nor does one that only asks for a version", "x: y, y: x%", "", nil, "y=Satisfied", ""},
		"NotOnTheCycle":  {"leads to one, is on none", "x: y, y: z!private, z: y", "private", nil, "y=Satisfied", ""},
		"Alias":          {"a cycle is of add-ons, whatever an edge is called", "x: y!private, y: x", "private", nil, "y=Cycle", ProblemConditionalCycle},
		"ManyConditions": {"more than are remembered", "x: y!a y!b, y: x!c x!d z!e z!f, z: x!g x!h y!i y!j", "a c", nil, "y=Cycle", ProblemConditionalCycle},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			addOns := conditionalSpecs(t, tc.catalog)
			for i := range addOns { // each edge has a name of its own
				for j := range addOns[i].Spec.Dependencies {
					edge := &addOns[i].Spec.Dependencies[j]
					if edge.AddOn = edge.Name; j > 0 {
						edge.Name += strings.Repeat("'", j)
					}
				}
			}
			c := NewCatalog(addOns)
			cluster := Cluster{Labels: map[string]string{}}
			for label := range strings.FieldsSeq(tc.labels) {
				cluster.Labels[label] = ""
			}
			observe := func(addOn string) Observation {
				observed := running("1.0.0")
				if label, ok := tc.own[addOn]; ok {
					observed.Labels = map[string]string{label: ""}
				}
				return observed
			}
			for range 2 { // the second time from what is remembered
				findings := c.Evaluate("x", cluster, observe)
				if got := verdicts(findings[:1]); got != tc.want {
					t.Errorf("%s: got %s, want %s", tc.reason, got, tc.want)
				}
			}
			got := reasonsOf(c.Problems("x"))
			got = slices.DeleteFunc(got, func(r ProblemReason) bool { return r == ProblemNotRegistered })
			if tc.problem == "" && len(got) > 0 || tc.problem != "" && !slices.Contains(got, tc.problem) {
				t.Errorf("%s: problems %v, want %v", tc.reason, got, tc.problem)
			}
		})
	}
}

func TestConditionalCyclesAreWarnedOf(t *testing.T) {
	addOns := conditionalSpecs(t, "x: y!private, y: x")
	review := new(Reviewer).Review(&addOns[0], nil, addOns[1:])
	if len(review.Denials) > 0 || len(review.Warnings) != 1 || !strings.Contains(review.Warnings[0], "x → y → x, where the conditions") {
		t.Errorf("%+v", review)
	}
}

func TestPeersAndUses(t *testing.T) {
	c := NewCatalog(append(conditionalSpecs(t, "a: b, b: a!@gold, c: a!private, d: e!@gold, f: a"),
		specified(t, "g", `{dependencies: [{name: a, version: "1"}, {name: p, api: {kind: Pod}}], requirements: {kubernetes: "*", ocm: "*", claims: {a: b}}}`),
		specified(t, "h", `dependencies: [{name: a, when: {expression: "config.size() == 0 && cluster.labels.size() == 0"}}]`),
		specified(t, "i", `dependencies: [{name: a, when: {expression: "cluster.claims.all(cluster, cluster == '') || cluster.version == ''"}}]`)))
	for addOn, want := range map[string]struct {
		uses  Uses
		peers []string
	}{
		"a": {UsesAddOn, []string{"a", "b"}},
		"b": {UsesAddOn, []string{"a", "b"}},
		"c": {UsesLabels, nil},
		"d": {UsesAddOn, []string{"d"}},
		"f": {0, nil},
		"g": {UsesVersion | UsesFacts | UsesKubernetes | UsesOCM | UsesClaims, nil},
		"h": {UsesConfig | UsesLabels, []string{"h"}},
	} {
		if got := c.Uses(addOn); got != want.uses {
			t.Errorf("%s uses %b, want %b", addOn, got, want.uses)
		}
		if diff := cmp.Diff(want.peers, c.Peers(addOn)); diff != "" {
			t.Errorf("peers of %s -want, +got:\n%s", addOn, diff)
		}
	}
	if got := c.Uses("i"); !got.Any(UsesClaims) || !got.Any(UsesKubernetes) {
		t.Errorf("i uses %b", got)
	}
	if diff := cmp.Diff([]string{"h"}, c.Users(UsesConfig)); diff != "" {
		t.Errorf("users of configuration -want, +got:\n%s", diff)
	}
	if !c.AnyUses(UsesConfig) || catalogOf("a: b, b:").AnyUses(^Uses(0)) {
		t.Error("the proposal's edges use nothing, these do")
	}
}

func TestDependentsOfAliases(t *testing.T) {
	c := NewCatalog([]addonv1alpha1.ClusterManagementAddOn{
		specified(t, "x", `dependencies: [{name: a}, {name: b, addOn: a}, {name: c, type: IfInstalled, version: "1"}, {name: d, api: {kind: Pod}}]`),
	})
	for addOn, want := range map[string][]string{"a": {"x"}, "b": nil, "c": {"x"}, "d": nil} {
		if diff := cmp.Diff(want, c.Dependents(addOn)); diff != "" {
			t.Errorf("dependents of %s -want, +got:\n%s", addOn, diff)
		}
	}
	var told []string
	for _, problem := range c.Problems("x") {
		told = append(told, problem.Finding)
	}
	want := []string{`spec.dependencies: "a" has no ClusterManagementAddOn on this hub`}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("problems -want, +got:\n%s", diff)
	}
}

func TestQuestions(t *testing.T) {
	c := NewCatalog([]addonv1alpha1.ClusterManagementAddOn{
		specified(t, "x", `
dependencies:
- {name: b, version: ">= 1"}
- {name: alias, addOn: a, version: ">= 1", when: {clusterSelector: {matchLabels: {a: b}}}}
- {name: any, version: "*"}
- {name: plain}
- {name: api, api: {group: g.example.io, kind: Thing}}
- {name: core, api: {version: v1, kind: Pod}}`),
		specified(t, "y", `dependencies: [{name: b, type: IfInstalled, version: "2"}, {name: api, api: {group: g.example.io, kind: Thing}}]`),
		specified(t, "z", `dependencies: [{name: b}]`),
		annotated("broken", "{"),
	})
	pod, thing := addonv1alpha1.AddonAPI{Version: "v1", Kind: "Pod"}, addonv1alpha1.AddonAPI{Group: "g.example.io", Kind: "Thing"}
	for name, tc := range map[string]struct {
		installed []string
		want      Questions
	}{
		"Nobody":        {nil, Questions{}},
		"NothingAsked":  {[]string{"z", "broken", "unregistered"}, Questions{}},
		"All":           {[]string{"x"}, Questions{APIs: []addonv1alpha1.AddonAPI{pod, thing}, AddOns: []string{"a", "b"}}},
		"EachOnce":      {[]string{"y", "x"}, Questions{APIs: []addonv1alpha1.AddonAPI{pod, thing}, AddOns: []string{"a", "b"}}},
		"OnlyInstalled": {[]string{"y"}, Questions{APIs: []addonv1alpha1.AddonAPI{thing}, AddOns: []string{"b"}}},
	} {
		got := c.Questions(tc.installed...)
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s: -want, +got:\n%s", name, diff)
		}
		if got.Empty() != (name == "Nobody" || name == "NothingAsked") {
			t.Errorf("%s: Empty() = %t", name, got.Empty())
		}
	}
}
