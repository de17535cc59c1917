package steps_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"open-cluster-management.io/interlock/pkg/dependency/plan/steps"
)

// Interlock installs an add-on by a label only once its dependent is installed, so the dependent may not wait for it.
func TestWhatInterlockHasInstalled(t *testing.T) {
	const (
		places = "{namespace: places, name: edge}, "
		ours   = "{installStrategy: {type: Placements, placements: [" + places + "{namespace: labels, name: NAME}]}"
		refuse = "! c1: 'pl' is installed by Placements: 'places/edge' has to select the cluster"
		brings = " (install: Auto), where addon-manager runs with --lifecycle, on 100 clusters at most, because one Placement selects the label"
	)
	listing := func(name, dependencies string) string {
		return strings.Replace(ours, "NAME", name, 1) + ", dependencies: [" + dependencies + "]}"
	}
	addOns := hub{
		"base": "{" + manual + "}", "pl": listing("pl", "{name: base}"), "next": listing("next", "{name: pl, install: Auto}"),
		"user": needing("{name: pl, install: Auto}"), "plain": needing("{name: pl}"), "both": needing("{name: user}, {name: plain}"),
		"far": needing("{name: next, install: Auto}"), "other": needing("{name: edged, install: Auto}"),
		"edged": "{" + placed + "}",
	}
	unavailable := selected(clusterWith("c1", ""))
	unavailable.Available = metav1.ConditionFalse
	for _, test := range []struct {
		name, addOn, policy string
		cluster             steps.Cluster
		want                []string
	}{
		{name: "with its dependent", addOn: "user", cluster: selected(clusterWith("c1", "")), want: []string{
			"1: base<pl (c1)", "2: pl<user by OCM (c1), user (c1)",
			"c1: 'pl' is left to Interlock, which labels the ManagedCluster for 'user'" + brings,
		}},
		{name: "although it is not known what Placements select", addOn: "user", cluster: clusterWith("c1", ""), want: []string{
			"1: base<pl (c1)", "2: pl<user by OCM (c1), user (c1)",
			"c1: 'pl' is left to Interlock, which labels the ManagedCluster for 'user'" + brings,
		}},
		{name: "before what does not ask for it", addOn: "both", cluster: selected(clusterWith("c1", "")), want: []string{
			"1: base<pl (c1)", "2: pl<plain,user by OCM (c1), user<both (c1)", "3: plain<both (c1)", "4: both (c1)",
			"c1: 'pl' is left to Interlock, which labels the ManagedCluster for 'user'" + brings,
		}},
		{name: "for what it has installed itself", addOn: "far", cluster: selected(clusterWith("c1", "base")), want: []string{
			"1: far (c1), next<far by OCM (c1), pl<next by OCM (c1)",
			"c1: 'next' is left to Interlock, which labels the ManagedCluster for 'far'" + brings,
			"c1: 'pl' is left to Interlock, which labels the ManagedCluster for 'next'" + brings,
		}},
		{name: "for what was installed by a run before", addOn: "user", cluster: selected(clusterWith("c1", "base user")), want: []string{
			"1: pl<user by OCM (c1)", "c1: 'pl' is left to Interlock, which labels the ManagedCluster for 'user'" + brings,
			"c1: 'user' is installed already, and stays as it is",
		}},
		{
			name: "not where another Placement selects the cluster", addOn: "user", cluster: selected(clusterWith("c1", "base"), "pl"),
			want: []string{
				"1: pl<user by OCM (c1)", "2: user (c1)",
				"c1: 'pl' is about to be installed by Open Cluster Management: a Placement selects the cluster",
			},
		},
		{name: "not without install: Auto", addOn: "plain", cluster: selected(clusterWith("c1", "base")), want: []string{
			"1: pl<plain by OCM (c1)", "2: plain (c1)", refuse,
		}},
		{
			name: "not where a policy denies it", addOn: "user", policy: "{install: Deny}", cluster: selected(clusterWith("c1", "base")),
			want: []string{"1: pl<user by OCM (c1)", "2: user (c1)", refuse},
		},
		{name: "not where the cluster is not available", addOn: "user", cluster: unavailable, want: []string{
			"1: base<pl (c1)", "2: pl<user by OCM (c1)", "3: user (c1)", refuse,
		}},
		{name: "not without consent", addOn: "other", cluster: selected(clusterWith("c1", "")), want: []string{
			"1: edged<other by OCM (c1)", "2: other (c1)",
			"! c1: 'edged' is installed by Placements: 'places/edge' has to select the cluster",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var policies []string
			if test.policy != "" {
				policies = []string{test.policy}
			}
			plan := steps.Install(addOns.evaluator(t, policies...), steps.Installation{AddOns: []string{test.addOn}}, []steps.Cluster{test.cluster})
			if diff := cmp.Diff(test.want, linesOf(plan)); diff != "" {
				t.Errorf("-want, +got:\n%s", diff)
			}
		})
	}
}

// A Placement that does not exist selects no cluster, whatever labels that gets.
func TestAPlacementThatDoesNotExist(t *testing.T) {
	addOns := hub{
		"base": "{installStrategy: {type: Placements, placements: [{namespace: places, name: edge}, {namespace: places, name: west}]}}",
	}
	for _, test := range []struct{ exists, want string }{
		{"edge west", ""}, {"edge", "; there is no Placement 'places/west'"}, {"", "; there is no Placement 'places/edge' or 'places/west'"},
	} {
		cluster := selected(clusterWith("c1", ""))
		cluster.Absent = func(placement types.NamespacedName) bool { return !strings.Contains(test.exists, placement.Name) }
		plan := steps.Install(addOns.evaluator(t), steps.Installation{AddOns: []string{"base"}}, []steps.Cluster{cluster})
		want := []string{
			"1: base by OCM (c1)",
			"! c1: 'base' is installed by Placements: 'places/edge' or 'places/west' has to select the cluster" + test.want,
		}
		if diff := cmp.Diff(want, linesOf(plan)); diff != "" {
			t.Errorf("-want, +got:\n%s", diff)
		}
	}
}
