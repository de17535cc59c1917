package evaluation_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/condition"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/test/fixture"
)

func TestConditions(t *testing.T) {
	private := evaluation.Cluster{
		Name: "cluster1", Labels: map[string]string{"network": "private"}, Claims: map[string]string{"product": "OpenShift"},
		KubernetesVersion: "v1.31.2",
	}
	const missing = "Required addon 'a' is not installed or not available. "
	x := map[string]evaluation.Observation{"x": {
		Installed: true, Labels: map[string]string{"tier": "gold"}, Annotations: map[string]string{"note": "n"}, Config: map[string]string{
			"mode": "proxy",
		},
	}}
	conditional := func(text string) string { return "dependencies: [{name: a, when: {" + text + "}}]" }
	for name, tc := range map[string]ruleCase{
		"SelectorMatches": {
			reason: "the edge applies", spec: conditional(`clusterSelector: {matchLabels: {network: private}}`), cluster: private,
			addOns: x, want: "a=NotInstalled", message: missing + "(not installed)",
		},
		"SelectorDoesNot": {
			reason: "no condition", spec: conditional(`clusterSelector: {matchLabels: {network: public}}`), cluster: private, addOns: x,
			want: "a=NotApplicable",
		},
		"SelectorOfSets": {
			reason:  "in all of its forms",
			spec:    conditional(`clusterSelector: {matchExpressions: [{key: network, operator: NotIn, values: [public]}]}`),
			cluster: private, addOns: x, want: "a=NotInstalled", message: missing + "(not installed)",
		},
		"NoLabels": {
			reason: "no ManagedCluster, no labels", spec: conditional(`clusterSelector: {matchLabels: {network: private}}`), addOns: x,
			want: "a=NotApplicable",
		},
		"Config": {
			reason: "Kueue's add-on needs cluster-proxy only in proxy mode", spec: conditional(`expression: "config.mode == 'proxy'"`),
			cluster: private, addOns: x, want: "a=NotInstalled", message: missing + "(not installed)",
		},
		"OtherConfig": {
			reason: "not so", spec: conditional(`expression: "config.?mode.orValue('') == 'direct'"`), cluster: private, addOns: x,
			want: "a=NotApplicable",
		},
		"Variables": {
			reason: "all that there is", spec: conditional(
				`expression: "cluster.name == 'cluster1' && cluster.labels.network == 'private' && cluster.claims['product'] == 'OpenShift' ` +
					`&& cluster.version.startsWith('v1.31') && addOn.name == 'x' && addOn.labels.tier == 'gold' ` +
					`&& addOn.annotations.note == 'n'"`,
			),
			cluster: private, addOns: x, want: "a=NotInstalled", message: missing + "(not installed)",
		},
		"BothHold": {
			reason:  "both must",
			spec:    conditional(`clusterSelector: {matchLabels: {network: private}}, expression: "config.mode == 'proxy'"`),
			cluster: private, addOns: x, want: "a=NotInstalled", message: missing + "(not installed)",
		},
		"OnlySelector": {
			reason:  "both must",
			spec:    conditional(`clusterSelector: {matchLabels: {network: private}}, expression: "config.mode == 'direct'"`),
			cluster: private, addOns: x, want: "a=NotApplicable",
		},
		"OnlyExpression": {
			reason: "both must, and a selector that does not hold spares the expression", spec: conditional(
				`clusterSelector: {matchLabels: {network: public}}, expression: "config.nothing == 'proxy'"`,
			),
			cluster: private, addOns: x, want: "a=NotApplicable",
		},
		"Fails": {
			reason: "it counts as applicable, and says why", spec: conditional(`expression: "config.nothing == 'proxy'"`),
			cluster: private, addOns: x,
			want: "a=NotInstalled", message: missing + "(not installed; when.expression failed: no such key: nothing)",
		},
		"FailsSatisfied": {
			reason: "it need not be known", spec: conditional(`expression: "config.nothing == 'proxy'"`), cluster: private,
			addOns: map[string]evaluation.Observation{"a": running("")}, want: "a=Satisfied",
		},
		"TooDear": {
			reason: "what would take too long fails", spec: conditional(
				`expression: "[1,2,3,4,5,6,7,8,9,10].all(a, [1,2,3,4,5,6,7,8,9,10].all(b, [1,2,3,4,5,6,7,8,9,10].all(c, ` +
					`[1,2,3,4,5,6,7,8,9,10].all(d, [1,2,3,4,5,6,7,8,9,10].all(e, a + b + c + d + e > 0)))))"`,
			),
			cluster: private, addOns: x, want: "a=NotInstalled",
			message: missing + "(not installed; when.expression failed: it takes too many steps)",
		},
		"ConfigUnread": {
			reason: "what is not known yet is held", spec: conditional(`expression: "config.mode == 'proxy'"`), cluster: private,
			addOns: map[string]evaluation.Observation{"x": {ConfigUnread: true}}, want: "a=Held",
		},
		"UnreadButUnasked": {
			reason: "only if requested", spec: conditional(`expression: "addOn.name == 'x'"`), cluster: private,
			addOns: map[string]evaluation.Observation{"x": {ConfigUnread: true}},
			want:   "a=NotInstalled", message: missing + "(not installed)",
		},
	} {
		t.Run(name, tc.run)
	}
}

func TestNotApplicableWritesNothing(t *testing.T) {
	c := evaluator([]addonv1alpha1.ClusterManagementAddOn{fixture.Specified(
		t, "x", `dependencies: [{name: a, when: {clusterSelector: {matchLabels: {a: b}}}}]`,
	)})
	findings := c.Evaluate("x", c.State("x", evaluation.Cluster{}, func(string) evaluation.Observation { return evaluation.Observation{} }))
	if got := condition.Decide(condition.Stored{}, findings, fixture.Now).Degraded; got != nil {
		t.Errorf("writes %+v", got)
	}
	stored := fixture.Degraded(metav1.ConditionTrue, requiredReason, "")
	got := condition.Decide(condition.Stored{Degraded: stored}, findings, fixture.Now).Degraded
	if got == nil || got.Reason != satisfiedReason {
		t.Errorf("a reason of ours is left behind: %+v", got)
	}
	if findings[0].Unsatisfied() {
		t.Error("it is not unsatisfied")
	}
}
