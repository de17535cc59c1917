package report

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/test/fixture"
)

func TestFindUncovered(t *testing.T) {
	installed := func(cluster, addOn string) *addonv1alpha1.ManagedClusterAddOn {
		return &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: addOn}}
	}
	content := snapshot.Content{
		Taken: fixture.Now.Time,
		Clusters: []clusterv1.ManagedCluster{
			{ObjectMeta: metav1.ObjectMeta{Name: "c1", Labels: map[string]string{"private": ""}}}, {ObjectMeta: metav1.ObjectMeta{Name: "c2"}},
		},
		AddOns: []*addonv1alpha1.ManagedClusterAddOn{installed("c1", "b")},
	}
	for name, test := range map[string]struct {
		files    []addonv1alpha1.ClusterManagementAddOn
		selected map[string][]string
		want     string
	}{
		"one cluster has no dependency": {
			fixture.Registrations("a: b"),
			map[string][]string{"a": {"c1", "c2"}},
			`spec.dependencies[0]: Placements install it on 1 managed cluster where "b", which it needs, is not installed: c2`,
		},
		"it is installed, although not available": {fixture.Registrations("a: b"), map[string][]string{"a": {"c1"}}, ""},
		"a Placement installs it too":             {fixture.Registrations("a: b, b"), map[string][]string{"a": {"c1", "c2"}, "b": {"c2"}}, ""},
		"an Optional one":                         {fixture.Registrations("a: b?"), map[string][]string{"a": {"c2"}}, ""},
		"where its condition holds": {
			fixture.Conditional("a: z!private"),
			map[string][]string{"a": {"c1", "c2"}},
			`spec.dependencies[0]: Placements install it on 1 managed cluster where "z", which it needs, is not installed: c1`,
		},
		"many clusters": {
			fixture.Registrations("a: b z"),
			map[string][]string{"a": {"c1", "c3", "c4", "c5", "c6"}},
			`spec.dependencies[0]: Placements install it on 4 managed clusters where "b", which it needs, is not installed: c3, c4, c5, …; ` +
				`spec.dependencies[1]: Placements install it on 5 managed clusters where "z", which it needs, is not installed: c1, c3, c4, …`,
		},
		"in an annotation, under another name": {
			[]addonv1alpha1.ClusterManagementAddOn{fixture.Annotated("a", "[{name: local, addOn: z}]")},
			map[string][]string{"a": {"c1"}},
			"metadata.annotations[addon.open-cluster-management.io/dependencies]: " +
				`Placements install it on 1 managed cluster where "z", which it needs, is not installed: c1`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var files []Declared
			for _, addOn := range test.files {
				files = append(files, Declared{AddOn: addOn, Line: func(string) int { return 0 }})
			}
			var got []string
			for _, finding := range FindUncovered(files, snapshot.New(content), test.selected) {
				got = append(got, finding.Field+": "+finding.Message)
			}
			if strings.Join(got, "; ") != test.want {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}
