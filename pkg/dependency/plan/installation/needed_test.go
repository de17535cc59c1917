package installation_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/policy"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/plan/installation"
	"open-cluster-management.io/interlock/test/fixture"
)

func TestNeeded(t *testing.T) {
	const needsBase = `{dependencies: [{name: base, install: Auto}]}`
	now := fixture.Now.Time
	up := evaluation.Observation{Installed: true, Available: fixture.Available(metav1.ConditionTrue, "")}
	down := evaluation.Observation{Installed: true, Available: fixture.Available(metav1.ConditionFalse, "")}
	served := func(status metav1.ConditionStatus) evaluation.Cluster {
		cluster := evaluation.Cluster{Available: metav1.ConditionTrue}
		cluster.Facts.APIs = evaluation.APIFacts{addonv1alpha1.AddonAPI{Kind: "Tunnel"}: {Served: status}}
		return cluster
	}
	lost := evaluation.Cluster{Available: metav1.ConditionUnknown, Offline: evaluation.OfflineHold}
	waived := `{overrides: [{addOn: leaf, dependency: base, waive: {reason: r, until: "` +
		now.Add(time.Hour).UTC().Format(time.RFC3339) + `"}}]}`
	for _, test := range []struct {
		name, leaf string
		// others are declarations of base and other.
		others  map[string]string
		policy  string
		cluster evaluation.Cluster
		addOns  map[string]evaluation.Observation
		want    string
	}{
		{name: "not asked for", leaf: `{dependencies: [{name: base}]}`},
		{name: "missing", leaf: needsBase, want: "base"},
		{name: "Optional too", leaf: `{dependencies: [{name: b, addOn: base, type: Optional, install: Auto}]}`, want: "base"},
		{name: "there", leaf: needsBase, addOns: map[string]evaluation.Observation{"base": up}},
		{name: "there, and down", leaf: needsBase, addOns: map[string]evaluation.Observation{"base": down}},
		{
			name: "there, in another version", leaf: `{dependencies: [{name: base, install: Auto, version: ">= 2"}]}`,
			addOns: map[string]evaluation.Observation{"base": up},
		},
		{
			name: "several, once each", want: "base other",
			leaf: `{dependencies: [{name: other, install: Auto}, {name: base, install: Auto}, {name: x, addOn: base, install: Auto}]}`,
		},
		{name: "where it does not apply", leaf: `{dependencies: [{name: base, install: Auto, when: {clusterSelector: {matchLabels: {a: b}}}}]}`},
		{name: "on a lost cluster", leaf: needsBase, cluster: lost},
		{name: "where it is waived", leaf: needsBase, policy: waived},
		{name: "on a cycle", leaf: needsBase, others: map[string]string{"base": `{dependencies: [{name: leaf}]}`}},
		{name: "declared wrongly", leaf: `{dependencies: [{name: base, install: Auto, when: {expression: "1 +"}}]}`},
		{
			name: "the provider of an API", leaf: `{dependencies: [{name: t, api: {kind: Tunnel}, install: Auto}]}`, cluster: served("False"),
			others: map[string]string{"base": `{provides: [{kind: Tunnel}]}`}, want: "base",
		},
		{
			name: "an API that two provide", leaf: `{dependencies: [{name: t, api: {kind: Tunnel}, install: Auto}]}`, cluster: served("False"),
			others: map[string]string{"base": `{provides: [{kind: Tunnel}]}`, "other": `{provides: [{kind: Tunnel}]}`},
		},
		{
			name: "an API that is not reported", leaf: `{dependencies: [{name: t, api: {kind: Tunnel}, install: Auto}]}`,
			others: map[string]string{"base": `{provides: [{kind: Tunnel}]}`},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			addOns := []addonv1alpha1.ClusterManagementAddOn{fixture.Specified(t, "leaf", test.leaf)}
			for _, name := range []string{"base", "other"} {
				spec := test.others[name]
				if spec == "" {
					spec = "{}"
				}
				addOns = append(addOns, fixture.Specified(t, name, spec))
			}
			var policies []dependencyv1alpha1.AddOnDependencyPolicy
			if test.policy != "" {
				policies = append(policies, fixture.Policy(t, "p", test.policy))
			}
			declared := evaluation.New(catalog.New(addOns).WithPolicies(policy.Read(policies)))
			test.cluster.Now = now
			state := declared.State("leaf", test.cluster, func(name string) evaluation.Observation { return test.addOns[name] })
			got := strings.Join(installation.Needed(declared.Catalog, declared.Evaluate("leaf", state)), " ")
			if got != test.want {
				t.Errorf("needs %q, want %q", got, test.want)
			}
		})
	}
}
