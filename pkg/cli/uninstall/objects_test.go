package uninstall

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/cli/planned"
	"open-cluster-management.io/interlock/pkg/dependency/steps"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/test/fixture"
)

// widgets are a fleet whose clusters have 5 Widgets each. base and twin provide these.
func widgets(t *testing.T, clusters ...string) *planned.Fleet {
	t.Helper()
	const provides = "provides: [{group: a.io, kind: Widget}]"
	content := snapshot.Content{Registrations: []addonv1alpha1.ClusterManagementAddOn{
		fixture.Specified(t, "base", provides), fixture.Specified(t, "twin", provides),
	}}
	for _, name := range clusters {
		cluster := clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if name == "lost" {
			cluster.Status.Conditions = []metav1.Condition{{Type: clusterv1.ManagedClusterConditionAvailable, Status: metav1.ConditionUnknown}}
		}
		facts := dependencyv1alpha1.ManagedClusterFacts{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: name}}
		facts.Status.Objects = []dependencyv1alpha1.ObjectsFact{{
			ObjectKind: dependencyv1alpha1.ObjectKind{Group: "a.io", Kind: "Widget"}, Count: ptr.To[int64](5),
		}}
		if name == "silent" {
			facts.Status.AgentAddOn = "interlock-agent"
		}
		content.Clusters, content.Facts = append(content.Clusters, cluster), append(content.Facts, facts)
		for _, addOn := range []string{"base", "twin"} {
			if addOn == "base" || name == "twins" {
				content.AddOns = append(content.AddOns, addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: addOn}})
			}
		}
	}
	content.Clusters = append(content.Clusters, clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "unreported"}})
	return &planned.Fleet{Snapshot: snapshot.New(content)}
}

// TestObjectsArePlanned: the plan has one line for all clusters, and knows those that the hub would print for each.
func TestObjectsArePlanned(t *testing.T) {
	const left = ", which add-on 'base' provides: they are lost or left without a controller when it is removed"
	removing := func(addOn string, clusters ...string) *steps.Plan {
		return &steps.Plan{Layers: []steps.Layer{{{AddOn: addOn, Clusters: clusters}}}}
	}
	both := removing("base", "twins")
	both.Layers = append(both.Layers, steps.Layer{{AddOn: "twin", Clusters: []string{"twins"}}})
	for _, test := range []struct {
		name        string
		on          []string
		plan        *steps.Plan
		want, known []string
	}{
		{name: "on one", on: []string{"c1"}, plan: removing("base", "c1"), want: []string{"c1 has 5 objects of Widget.a.io" + left}},
		{
			name: "on several", on: []string{"c1", "c2", "lost", "silent"}, plan: removing("base", "c1", "c2", "lost", "silent"),
			want: []string{"4 clusters have 20 objects of Widget.a.io (c1, c2 and 2 more; last reported by 2 of them)" + left},
			known: []string{
				"c1 has 5 objects of Widget.a.io" + left, "c2 has 5 objects of Widget.a.io" + left,
				"lost last reported 5 objects of Widget.a.io" + left, "silent last reported 5 objects of Widget.a.io" + left,
			},
		},
		{name: "another provider stays", on: []string{"twins"}, plan: removing("base", "twins")},
		{
			name: "another provider is removed, too", on: []string{"twins"}, plan: both, want: []string{
				"twins has 5 objects of Widget.a.io" + left,
				"twins has 5 objects of Widget.a.io, which add-on 'twin' provides: they are lost or left without a controller when it is removed",
			},
		},
		{name: "nothing is reported", plan: removing("base", "unreported")},
		{name: "nothing is removed", on: []string{"c1"}, plan: &steps.Plan{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := &options{planned: sets.New[string]()}
			o.warnOfObjects(widgets(t, test.on...), test.plan)
			var got []string
			for _, finding := range test.plan.Findings {
				got = append(got, finding.String())
				if len(finding.Clusters) != len(test.on) {
					t.Errorf("on %v", finding.Clusters)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if test.known == nil {
				test.known = test.want
			}
			if !o.planned.Equal(sets.New(test.known...)) {
				t.Errorf("knows %v", sets.List(o.planned))
			}
		})
	}
}
