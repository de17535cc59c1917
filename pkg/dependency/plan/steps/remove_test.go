package steps_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"open-cluster-management.io/interlock/pkg/dependency/plan/steps"
)

func TestRemove(t *testing.T) {
	const takenOver = ", although no other add-on needs it: another writer than Interlock and kubectl addon has written its spec, its " +
		"labels or its own annotations. Name it to uninstall it, too"
	addOns := hub{
		"portal": needing("{name: gateway}"), "gateway": needing("{name: tokens}, {name: certs}"), "tokens": "{}", "certs": "{}",
		"nice": needing("{name: certs, type: Optional}"), "either": needing("{name: e, anyOf: [{addOn: tokens}, {addOn: certs}]}"),
	}
	for _, test := range []struct {
		name    string
		addOns  string
		unit    bool
		forced  bool
		cluster steps.Cluster
		want    []string
	}{
		{
			name: "what nothing requires", addOns: "portal", cluster: clusterWith("c1", "portal gateway tokens certs"),
			want: []string{"1: portal (c1)"},
		},
		{
			name: "dependents first", addOns: "certs gateway portal", cluster: clusterWith("c1", "portal gateway tokens certs"),
			want: []string{"1: portal (c1)", "2: gateway (c1)", "3: certs (c1)"},
		},
		{
			name: "not what is required", addOns: "certs", cluster: clusterWith("c1", "gateway tokens certs"),
			want: []string{"1: certs (c1)", "! c1: 'gateway', which stays, requires certs"},
		},
		{
			name: "unless forced", addOns: "certs", forced: true, cluster: clusterWith("c1", "gateway tokens certs"),
			want: []string{"1: certs (c1)", "c1: 'gateway', which stays, requires certs"},
		},
		{name: "where it is only Optional", addOns: "certs", cluster: clusterWith("c1", "nice certs"), want: []string{"1: certs (c1)"}},
		{name: "where an alternative stays", addOns: "certs", cluster: clusterWith("c1", "either certs tokens"), want: []string{"1: certs (c1)"}},
		{
			name: "not the last alternative", addOns: "certs", cluster: clusterWith("c1", "either certs"),
			want: []string{"1: certs (c1)", "! c1: 'either', which stays, requires tokens or certs"},
		},
		{
			name: "what requires it is being removed", addOns: "certs", cluster: clusterWith("c1", "-gateway certs"),
			want: []string{"1: certs (c1)"},
		},
		{
			name: "what is not there", addOns: "certs tokens", cluster: clusterWith("c1", "-certs"),
			want: []string{"c1: 'certs' is being removed already", "c1: 'tokens' is not installed"},
		},
		{
			name: "on a lost cluster", addOns: "certs", cluster: lost(clusterWith("c1", "gateway tokens certs")),
			want: []string{"1: certs (c1)", "! c1: the managed cluster cannot be reached, so it is not known what is needed there"},
		},
		{
			name: "as a unit", addOns: "portal", unit: true, cluster: clusterWith("c1", "portal gateway! tokens! certs!"),
			want: []string{"1: portal (c1)", "2: gateway<portal (c1)", "3: certs<gateway (c1), tokens<gateway (c1)"},
		},
		{
			name: "as a unit, without what others installed", addOns: "portal", unit: true,
			cluster: clusterWith("c1", "portal gateway! tokens certs!"),
			want:    []string{"1: portal (c1)", "2: gateway<portal (c1)", "3: certs<gateway (c1)"},
		},
		{
			name: "as a unit, without what another needs, Optional included", addOns: "portal", unit: true,
			cluster: clusterWith("c1", "portal gateway! tokens! certs! nice"),
			want:    []string{"1: portal (c1)", "2: gateway<portal (c1)", "3: tokens<gateway (c1)"},
		},
		{
			name: "as a unit, nothing below what stays", addOns: "portal", unit: true, cluster: clusterWith("c1", "portal gateway tokens! certs!"),
			want: []string{"1: portal (c1)"},
		},
		{
			name: "as a unit, without what another writer has taken over, and what that needs", addOns: "portal", unit: true,
			cluster: clusterWith("c1", "portal gateway!? tokens! certs!?"),
			want:    []string{"1: portal (c1)", "c1: 'gateway' stays" + takenOver},
		},
		{
			name: "as a unit, without a leaf that another writer has taken over", addOns: "portal", unit: true,
			cluster: clusterWith("c1", "portal gateway! tokens! certs!?"),
			want:    []string{"1: portal (c1)", "2: gateway<portal (c1)", "3: tokens<gateway (c1)", "c1: 'certs' stays" + takenOver},
		},
		{
			name: "as a unit, what is named although another writer has taken it over", addOns: "portal gateway", unit: true,
			cluster: clusterWith("c1", "portal gateway!? tokens! certs!"),
			want:    []string{"1: portal (c1)", "2: gateway (c1)", "3: certs<gateway (c1), tokens<gateway (c1)"},
		},
		{
			name: "as a unit, nothing that it never needed", addOns: "portal", unit: true, cluster: clusterWith("c1", "portal nice!"),
			want: []string{"1: portal (c1)"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			wanted := steps.Removal{AddOns: strings.Fields(test.addOns), Unit: test.unit, Forced: test.forced}
			plan := steps.Remove(addOns.evaluator(t), wanted, []steps.Cluster{test.cluster})
			if diff := cmp.Diff(test.want, linesOf(plan)); diff != "" {
				t.Errorf("-want, +got:\n%s", diff)
			}
		})
	}
}

func TestFindingsCountClusters(t *testing.T) {
	for want, clusters := range map[string][]string{
		"it fails (on 1 cluster: c1)":                              {"c1"},
		"it fails (on 3 clusters: c1, c2, c3)":                     {"c1", "c2", "c3"},
		"it fails (on 4 clusters: c1, c2, c3 and 1 more cluster)":  {"c1", "c2", "c3", "c4"},
		"it fails (on 5 clusters: c1, c2, c3 and 2 more clusters)": {"c1", "c2", "c3", "c4", "c5"},
	} {
		if got := (steps.Finding{Text: "it fails", Clusters: clusters}).String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
