package uninstallcmd

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
	"open-cluster-management.io/interlock/pkg/dependency/plan/steps"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/test/fixture"
)

// widgets returns a fleet whose clusters have 5 Widgets each. base and twin provide their API.
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
				content.AddOns = append(content.AddOns, &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: addOn}})
			}
		}
	}
	content.Clusters = append(content.Clusters, clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "unreported"}})
	return &planned.Fleet{Snapshot: snapshot.New(content)}
}

// TestWarnOfObjects tests that the plan has a line for all clusters, and that the hub's warnings for each cluster are not shown again.
func TestWarnOfObjects(t *testing.T) {
	const lost = ", which add-on 'base' provides: they are lost or left without a controller when it is removed"
	removing := func(addOn string, clusters ...string) *steps.Plan {
		return &steps.Plan{Layers: []steps.Layer{{{AddOn: addOn, Clusters: clusters}}}}
	}
	twins := removing("base", "twins")
	twins.Layers = append(twins.Layers, steps.Layer{{AddOn: "twin", Clusters: []string{"twins"}}})
	for _, test := range []struct {
		name          string
		clusters      []string
		plan          *steps.Plan
		want, planned []string
	}{
		{name: "on one", clusters: []string{"c1"}, plan: removing("base", "c1"), want: []string{"c1 has 5 objects of Widget.a.io" + lost}},
		{
			name: "on several", clusters: []string{"c1", "c2", "lost", "silent"}, plan: removing("base", "c1", "c2", "lost", "silent"),
			want: []string{"4 clusters have 20 objects of Widget.a.io (c1, c2 and 2 more; last reported by 2 of them)" + lost},
			planned: []string{
				"c1 has 5 objects of Widget.a.io" + lost, "c2 has 5 objects of Widget.a.io" + lost,
				"lost last reported 5 objects of Widget.a.io" + lost, "silent last reported 5 objects of Widget.a.io" + lost,
			},
		},
		{name: "another provider stays", clusters: []string{"twins"}, plan: removing("base", "twins")},
		{
			name: "another provider is removed, too", clusters: []string{"twins"}, plan: twins, want: []string{
				"twins has 5 objects of Widget.a.io" + lost,
				"twins has 5 objects of Widget.a.io, which add-on 'twin' provides: they are lost or left without a controller when it is removed",
			},
		},
		{name: "nothing is reported", plan: removing("base", "unreported")},
		{name: "nothing is removed", clusters: []string{"c1"}, plan: &steps.Plan{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := &options{shown: sets.New[string]()}
			o.warnOfObjects(widgets(t, test.clusters...), test.plan)
			var got []string
			for _, finding := range test.plan.Findings {
				got = append(got, finding.String())
				if len(finding.Clusters) != len(test.clusters) {
					t.Errorf("on %v", finding.Clusters)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if test.planned == nil {
				test.planned = test.want
			}
			if !o.shown.Equal(sets.New(test.planned...)) {
				t.Errorf("knows %v", sets.List(o.shown))
			}
		})
	}
}
