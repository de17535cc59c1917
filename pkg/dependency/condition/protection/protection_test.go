package protection

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/policy"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/test/fixture"
)

// takenBy returns the requirements of leaf that the removal of add-ons breaks, by its findings before and after it.
func takenBy(t *testing.T, previous, current []evaluation.Finding, removed ...string) string {
	t.Helper()
	edges, err := Taken("leaf", sets.New(removed...), current, func() ([]evaluation.Finding, error) { return previous, nil })
	if err != nil {
		t.Fatal(err)
	}
	var needs []string
	for edge := range edges {
		needs = append(needs, edge.Text())
	}
	slices.Sort(needs)
	return strings.Join(needs, ", ")
}

// TestTaken has the rules of Deckhouse for disabling a module, as cases of the removal of add-on base.
func TestTaken(t *testing.T) {
	now := time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)
	waived := `overrides: [{addOn: leaf, dependency: base, waive: {reason: x, until: "2026-12-01T00:00:00Z"}}]`
	for _, test := range []struct {
		name, edges, policy string
		lost                bool
		want                bool
	}{
		{"a Required dependency", `[{name: base, type: Required}]`, "", false, true},
		{"by another name", `[{name: alias, addOn: base, type: Required}]`, "", false, true},
		{"one of several", `[{name: base, type: Optional}, {name: alias, addOn: base, type: Required}]`, "", false, true},
		{"with a version", `[{name: base, type: Required, version: ">= 1.0"}]`, "", false, true},
		{"that tolerates a while", `[{name: base, type: Required, tolerate: 5m}]`, "", false, true},
		{"an Optional one", `[{name: base, type: Optional}]`, "", false, false},
		{"one that only counts where it is installed", `[{name: base, type: IfInstalled, version: ">= 1.0"}]`, "", false, false},
		{"a conflict", `[{name: base, type: Conflicts}]`, "", false, false},
		{"another add-on", `[{name: other, type: Required}]`, "", false, false},
		{"an API", `[{name: base, type: Required, api: {group: g, kind: K}}]`, "", false, false},
		{"where it applies", `[{name: base, type: Required, when: {clusterSelector: {matchLabels: {tier: edge}}}}]`, "", false, true},
		{"where it does not", `[{name: base, type: Required, when: {clusterSelector: {matchLabels: {tier: core}}}}]`, "", false, false},
		{"on a cycle", `[{name: base, type: Required}, {name: leaf, type: Required}]`, "", false, true},
		{"on a cluster that is lost", `[{name: base, type: Required}]`, "", true, false},
		{"waived", `[{name: base, type: Required}]`, waived, false, false},
		{"made Optional", `[{name: base, type: Required}]`, `overrides: [{addOn: leaf, dependency: base, type: Optional}]`, false, false},
		{"made Required", `[{name: base, type: Optional}]`, `overrides: [{addOn: leaf, dependency: base, type: Required}]`, false, true},
		{
			"of which a policy says what cannot be used", `[{name: base, type: Required}]`,
			`overrides: [{addOn: leaf, dependency: base, version: newest}]`, false, false,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			leaf := fixture.Specified(t, "leaf", "dependencies: "+test.edges)
			declared := catalog.New([]addonv1alpha1.ClusterManagementAddOn{leaf, fixture.Specified(t, "base", "{}")})
			if test.policy != "" {
				declared = declared.WithPolicies(policy.Read([]dependencyv1alpha1.AddOnDependencyPolicy{fixture.Policy(t, "p", test.policy)}))
			}
			evaluator := evaluation.New(declared)
			cluster := evaluation.Cluster{
				Name: "cluster1", Now: now, Offline: evaluation.OfflineHold, Labels: map[string]string{"tier": "edge"}, Available: metav1.ConditionTrue,
			}
			if test.lost {
				cluster.Available = metav1.ConditionUnknown
			}
			state := evaluator.State("leaf", cluster, func(name string) evaluation.Observation {
				return evaluation.Observation{Name: name, Installed: name == "leaf"}
			})
			if got := takenBy(t, nil, evaluator.Evaluate("leaf", state), "base") != ""; got != test.want {
				t.Errorf("got %t, want %t", got, test.want)
			}
		})
	}
}

func TestMessage(t *testing.T) {
	large := Broken{}
	for i := range 340 {
		large.Add(Edge{Dependent: "cluster-gateway", Removed: "base"}, fmt.Sprintf("cluster%03d", i))
	}
	for i := range 11 {
		large.Add(Edge{Dependent: fmt.Sprintf("add-on-%02d", i), Removed: "base"}, "cluster000")
	}
	for _, test := range []struct {
		name   string
		broken Broken
		want   string
	}{
		{"nothing", Broken{}, ""},
		{"one", Broken{{Dependent: "leaf", Removed: "base"}: {"cluster1"}}, "would break 1 add-on on 1 cluster: leaf requires base (cluster1)"},
		{
			"two on two clusters",
			Broken{{Dependent: "leaf", Removed: "base"}: {"cluster2", "cluster1"}, {Dependent: "stem", Removed: "base"}: {"cluster1"}},
			"would break 2 add-ons on 2 clusters: leaf requires base (cluster1, cluster2); stem requires base (cluster1)",
		},
		{
			"two that are removed together",
			Broken{{Dependent: "leaf", Removed: "base"}: {"cluster2"}, {Dependent: "leaf", Removed: "root"}: {"cluster1", "cluster2"}},
			"would break 1 add-on on 2 clusters: leaf requires root (cluster1, cluster2); leaf requires base (cluster2)",
		},
		{
			"many", large,
			"would break 12 add-ons on 340 clusters: cluster-gateway requires base (cluster000, cluster001 and 338 more); " +
				"add-on-00 requires base (cluster000); add-on-01 requires base (cluster000); and 9 more add-ons",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := test.broken.Message(); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}
