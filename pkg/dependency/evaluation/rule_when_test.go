package evaluation_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/condition"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/fixture"
)

func TestConditions(t *testing.T) {
	private := evaluation.Cluster{Name: "cluster1", Labels: map[string]string{"network": "private"}, Claims: map[string]string{"product": "OpenShift"}, KubernetesVersion: "v1.31.2"}
	const missing = "Required addon 'a' is not installed or not available. "
	x := map[string]evaluation.Observation{"x": {
		Installed: true, Labels: map[string]string{"tier": "gold"}, Annotations: map[string]string{"note": "n"}, Config: map[string]string{"mode": "proxy"},
	}}
	when := func(text string) string { return "dependencies: [{name: a, when: {" + text + "}}]" }
	for name, tc := range map[string]ruleCase{
		"SelectorMatches": {"the edge applies", when(`clusterSelector: {matchLabels: {network: private}}`), nil, private, x, "a=NotInstalled", missing + "(not installed)"},
		"SelectorDoesNot": {"no condition", when(`clusterSelector: {matchLabels: {network: public}}`), nil, private, x, "a=NotApplicable", ""},
		"SelectorOfSets":  {"in all of its forms", when(`clusterSelector: {matchExpressions: [{key: network, operator: NotIn, values: [public]}]}`), nil, private, x, "a=NotInstalled", missing + "(not installed)"},
		"NoLabels":        {"no ManagedCluster, no labels", when(`clusterSelector: {matchLabels: {network: private}}`), nil, evaluation.Cluster{}, x, "a=NotApplicable", ""},
		"Config":          {"Kueue's add-on needs cluster-proxy only in proxy mode", when(`expression: "config.mode == 'proxy'"`), nil, private, x, "a=NotInstalled", missing + "(not installed)"},
		"OtherConfig":     {"not so", when(`expression: "config.?mode.orValue('') == 'direct'"`), nil, private, x, "a=NotApplicable", ""},
		"Variables": {
			"all that there is", when(`expression: "cluster.name == 'cluster1' && cluster.labels.network == 'private' && cluster.claims['product'] == 'OpenShift' && cluster.version.startsWith('v1.31') && addOn.name == 'x' && addOn.labels.tier == 'gold' && addOn.annotations.note == 'n'"`),
			nil, private, x, "a=NotInstalled", missing + "(not installed)",
		},
		"BothHold":     {"both must", when(`clusterSelector: {matchLabels: {network: private}}, expression: "config.mode == 'proxy'"`), nil, private, x, "a=NotInstalled", missing + "(not installed)"},
		"OnlySelector": {"both must", when(`clusterSelector: {matchLabels: {network: private}}, expression: "config.mode == 'direct'"`), nil, private, x, "a=NotApplicable", ""},
		"OnlyExpression": {
			"both must, and a selector that does not hold spares the expression", when(`clusterSelector: {matchLabels: {network: public}}, expression: "config.nothing == 'proxy'"`),
			nil, private, x, "a=NotApplicable", "",
		},
		"Fails": {
			"it counts as applicable, and says why", when(`expression: "config.nothing == 'proxy'"`), nil, private, x,
			"a=NotInstalled", missing + "(not installed; when.expression failed: no such key: nothing)",
		},
		"FailsSatisfied": {"it need not be known", when(`expression: "config.nothing == 'proxy'"`), nil, private, map[string]evaluation.Observation{"a": running("")}, "a=Satisfied", ""},
		"TooDear": {
			"what would take too long fails", when(`expression: "[1,2,3,4,5,6,7,8,9,10].all(a, [1,2,3,4,5,6,7,8,9,10].all(b, [1,2,3,4,5,6,7,8,9,10].all(c, [1,2,3,4,5,6,7,8,9,10].all(d, [1,2,3,4,5,6,7,8,9,10].all(e, a + b + c + d + e > 0)))))"`),
			nil, private, x, "a=NotInstalled", missing + "(not installed; when.expression failed: it takes too many steps)",
		},
		"ConfigUnread": {"what is not known yet is held", when(`expression: "config.mode == 'proxy'"`), nil, private, map[string]evaluation.Observation{"x": {ConfigUnread: true}}, "a=Held", ""},
		"UnreadButUnasked": {
			"only if requested", when(`expression: "addOn.name == 'x'"`), nil, private,
			map[string]evaluation.Observation{"x": {ConfigUnread: true}},
			"a=NotInstalled", missing + "(not installed)",
		},
	} {
		t.Run(name, tc.run)
	}
}

func TestNotApplicableWritesNothing(t *testing.T) {
	c := evaluator([]addonv1alpha1.ClusterManagementAddOn{fixture.Specified(t, "x", `dependencies: [{name: a, when: {clusterSelector: {matchLabels: {a: b}}}}]`)})
	findings := c.Evaluate("x", c.State("x", evaluation.Cluster{}, func(string) evaluation.Observation { return evaluation.Observation{} }))
	if got, write := condition.Decide(nil, findings, fixture.Now); write {
		t.Errorf("writes %+v", got)
	}
	if got, write := condition.Decide(fixture.Degraded(metav1.ConditionTrue, requiredReason, ""), findings, fixture.Now); !write || got.Reason != satisfiedReason {
		t.Errorf("a reason of ours is left behind: %+v", got)
	}
	if findings[0].Unsatisfied() {
		t.Error("it is not unsatisfied")
	}
}
