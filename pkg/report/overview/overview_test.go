package overview_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	gocmp "github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/report"
	"open-cluster-management.io/interlock/pkg/report/overview"
	"open-cluster-management.io/interlock/test/fixture"
	"open-cluster-management.io/interlock/test/mixedfleet"
)

// find returns the overview of a fleet, grouped by region.
func find(content snapshot.Content, changes ...func(*overview.Options)) *overview.Overview {
	return overview.Find(snapshot.New(content), options(content, changes...))
}

func options(content snapshot.Content, changes ...func(*overview.Options)) overview.Options {
	options := overview.Options{
		Now: content.Taken, GroupBy: "region", Command: func(line string) string { return line }, Note: func(string) string { return "" },
	}
	for _, change := range changes {
		change(&options)
	}
	return options
}

// oneCluster returns a managed cluster with the add-ons gateway, which requires proxy, and would like tunnel.
func oneCluster() snapshot.Content {
	content := snapshot.Content{Taken: fixture.Now.Time, Registrations: fixture.Registrations("gateway: proxy tunnel?, proxy:, tunnel:")}
	cluster := clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "cluster1", Labels: map[string]string{"region": "north"}}}
	cluster.Status.Conditions = []metav1.Condition{{Type: clusterv1.ManagedClusterConditionAvailable, Status: metav1.ConditionTrue}}
	content.Clusters = []clusterv1.ManagedCluster{cluster}
	for _, name := range []string{"gateway", "proxy", "tunnel"} {
		addOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Name: name}}
		addOn.Status.Conditions = []metav1.Condition{*fixture.Available(metav1.ConditionTrue, "Running")}
		content.AddOns = append(content.AddOns, addOn)
	}
	return content
}

const required = addonv1alpha1.AddonDegradedReasonRequiredDependencyNotSatisfied

func TestStateOfAddOn(t *testing.T) {
	for name, test := range map[string]struct {
		change func(content *snapshot.Content, gateway, proxy, tunnel *addonv1alpha1.ManagedClusterAddOn)
		// want are the states of gateway and proxy.
		want [2]overview.State
	}{
		"all works": {
			func(*snapshot.Content, *addonv1alpha1.ManagedClusterAddOn, *addonv1alpha1.ManagedClusterAddOn, *addonv1alpha1.ManagedClusterAddOn) {
			},
			[2]overview.State{overview.Working, overview.Working},
		},
		"the dependency is down": {
			func(_ *snapshot.Content, _, proxy, _ *addonv1alpha1.ManagedClusterAddOn) {
				proxy.Status.Conditions = []metav1.Condition{*fixture.Available(metav1.ConditionFalse, "Stopped")}
			},
			[2]overview.State{overview.Failing, overview.Down},
		},
		"the add-on itself is down": {
			func(_ *snapshot.Content, gateway, _, _ *addonv1alpha1.ManagedClusterAddOn) {
				gateway.Status.Conditions = []metav1.Condition{*fixture.Available(metav1.ConditionFalse, "Stopped")}
			},
			[2]overview.State{overview.Down, overview.Working},
		},
		"an Optional dependency is down": {
			func(_ *snapshot.Content, _, _, tunnel *addonv1alpha1.ManagedClusterAddOn) {
				tunnel.Status.Conditions = []metav1.Condition{*fixture.Available(metav1.ConditionFalse, "Stopped")}
			},
			[2]overview.State{overview.Limited, overview.Working},
		},
		"Degraded is out of date": {
			func(_ *snapshot.Content, gateway, _, _ *addonv1alpha1.ManagedClusterAddOn) {
				gateway.Status.Conditions = append(gateway.Status.Conditions, *fixture.Degraded(metav1.ConditionTrue, required, ""))
			},
			[2]overview.State{overview.Stale, overview.Working},
		},
		"the agent has not reported": {
			func(_ *snapshot.Content, gateway, _, _ *addonv1alpha1.ManagedClusterAddOn) {
				gateway.Status.Conditions = nil
			},
			[2]overview.State{overview.Unreported, overview.Working},
		},
		"the gate is closed, although the dependency is down": {
			func(_ *snapshot.Content, gateway, proxy, _ *addonv1alpha1.ManagedClusterAddOn) {
				gateway.Annotations = map[string]string{addonv1alpha1.GateAnnotation: addonv1alpha1.GateClosed}
				proxy.Status.Conditions = []metav1.Condition{*fixture.Available(metav1.ConditionFalse, "Stopped")}
			},
			[2]overview.State{overview.Waiting, overview.Down},
		},
		"the add-on is being removed": {
			func(_ *snapshot.Content, gateway, _, _ *addonv1alpha1.ManagedClusterAddOn) {
				gateway.DeletionTimestamp = &fixture.Earlier
			},
			[2]overview.State{overview.Leaving, overview.Working},
		},
		"the cluster is detached": {
			func(content *snapshot.Content, _, _, _ *addonv1alpha1.ManagedClusterAddOn) {
				content.Clusters[0].DeletionTimestamp = &fixture.Earlier
			},
			[2]overview.State{overview.Leaving, overview.Leaving},
		},
		"the cluster is lost, whatever its add-ons reported": {
			func(content *snapshot.Content, gateway, _, _ *addonv1alpha1.ManagedClusterAddOn) {
				content.Clusters[0].Status.Conditions[0].Status = metav1.ConditionUnknown
				gateway.Status.Conditions = append(gateway.Status.Conditions, *fixture.Degraded(metav1.ConditionTrue, required, ""))
			},
			[2]overview.State{overview.Lost, overview.Lost},
		},
		"a verdict is held": {
			func(content *snapshot.Content, _, _, _ *addonv1alpha1.ManagedClusterAddOn) {
				content.Registrations[0].Spec.Dependencies = append(content.Registrations[0].Spec.Dependencies, addonv1alpha1.AddonDependency{
					Name: "api", Type: addonv1alpha1.DependencyTypeRequired,
					API: &addonv1alpha1.DependencyAPI{AddonAPI: addonv1alpha1.AddonAPI{Group: "example.com", Version: "v1", Kind: "Thing"}},
				})
			},
			[2]overview.State{overview.Held, overview.Working},
		},
	} {
		content := oneCluster()
		test.change(&content, content.AddOns[0], content.AddOns[1], content.AddOns[2])
		o := find(content)
		var got [2]overview.State
		for i, addOn := range []string{"gateway", "proxy"} {
			row := o.Matrix.Rows[slices.IndexFunc(o.Matrix.Rows, func(row overview.Row) bool { return row.AddOn == addOn })]
			if len(row.Fleet.States) != 1 || row.Fleet.Installed != 1 {
				t.Errorf("%s: %s has %+v", name, addOn, row.Fleet)
			}
			got[i] = row.Fleet.States[0].State
		}
		if got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

// TestClusterLeadsToCause tests the way from a managed cluster to the edge, the text of the condition, and the root cause.
func TestClusterLeadsToCause(t *testing.T) {
	content := oneCluster()
	content.AddOns[1].Status.Conditions = []metav1.Condition{*fixture.Available(metav1.ConditionFalse, "Stopped")}
	available := fixture.Available(metav1.ConditionFalse, required)
	available.Message = "Required addon 'proxy' is not installed or not available."
	content.AddOns[0].Status.Conditions = []metav1.Condition{*available, *fixture.Degraded(metav1.ConditionTrue, required, available.Message)}
	o := find(content)
	since := fixture.Earlier.UTC()
	want := []overview.Cluster{{
		Name: "cluster1", Group: "north", Working: 1, Caption: "Add-ons on cluster1: 1 of 3 work.",
		AddOns: []overview.AddOn{
			{
				Name: "gateway", State: overview.Failing, Causes: []int{1}, Run: "kubectl addon why gateway -n cluster1",
				Conditions: []overview.Condition{
					{Type: "Degraded", Status: "True", Reason: required, Message: available.Message, Since: since},
					{Type: "Available", Status: "False", Reason: required, Since: since},
				},
				Edges: []overview.Edge{{
					Name: "proxy", Type: "Required", Wanted: "add-on proxy", Found: "Available=False, Stopped, since 2026-08-01 10:00:00 UTC",
					Verdict: evaluation.NotAvailable, Since: since,
				}},
			},
			{
				Name: "proxy", State: overview.Down, Explanation: "Other add-ons on the cluster fail because of it.", Causes: []int{1},
				Run:        "kubectl describe managedclusteraddon proxy -n cluster1",
				Conditions: []overview.Condition{{Type: "Available", Status: "False", Reason: "Stopped", Since: since}},
			},
		},
	}}
	if diff := gocmp.Diff(want, o.Clusters); diff != "" {
		t.Error(diff)
	}
	if len(o.Causes) != 1 || o.Causes[0].Number != 1 || o.Causes[0].Title != "proxy is not available: Stopped" || o.Causes[0].AddOns != 1 ||
		!o.Causes[0].Since.Equal(since) || o.Causes[0].Place != "on cluster1" || !o.Causes[0].EffectsSince.IsZero() || len(o.Causes[0].Run) != 1 {
		t.Errorf("%+v", o.Causes)
	}
}

// TestOverviewAgreesWithRootCauses tests that a page shows the failures that kubectl addon why shows.
func TestOverviewAgreesWithRootCauses(t *testing.T) {
	content := mixedfleet.Content(400)
	o, causes := find(content), report.FindRootCauses(snapshot.New(content), report.Filter{})
	victims := map[string]bool{}
	for i := range causes.Items {
		if o.Causes[i].Title != causes.Items[i].String() || o.Causes[i].AddOns != len(causes.Items[i].Victims) {
			t.Errorf("cause %d: %+v", i+1, o.Causes[i])
		}
		for _, victim := range causes.Items[i].Victims {
			victims[victim.Cluster+"/"+victim.AddOn] = true
		}
	}
	counts, total := map[overview.State]int{}, 0
	for _, count := range o.AddOns {
		counts[count.State], total = count.Count, total+count.Count
		if count.Count == 0 {
			t.Errorf("no add-on is %s", count.State)
		}
	}
	failing := counts[overview.Failing]
	if most := failing + counts[overview.Waiting] + counts[overview.Leaving]; failing == 0 || failing > len(victims) || most < len(victims) {
		t.Errorf("%d add-ons fail, and the root causes have %d", failing, len(victims))
	}
	if total != len(content.AddOns) || o.Clusters[0].AddOns[0].State != overview.Failing {
		t.Errorf("%d of %d add-ons, and the first cluster is %+v", total, len(content.AddOns), o.Clusters[0])
	}
	for _, row := range o.Matrix.Rows {
		installed := 0
		for _, cell := range row.Cells {
			installed += cell.Installed
		}
		if installed != row.Fleet.Installed {
			t.Errorf("%s is on %d clusters, and the groups have %d", row.AddOn, row.Fleet.Installed, installed)
		}
	}
}

func TestGroups(t *testing.T) {
	content := snapshot.Content{Taken: fixture.Now.Time}
	for i := range 60 {
		cluster := clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("cluster%02d", i), Labels: map[string]string{}}}
		switch {
		case i < 20:
			cluster.Labels["region"] = "north"
		case i < 30:
			cluster.Labels["region"] = "south"
		case i < 50:
			cluster.Labels["region"] = fmt.Sprintf("own-%02d", i)
		}
		content.Clusters = append(content.Clusters, cluster)
	}
	groups := find(content).Matrix.Groups
	var got []string
	for _, group := range groups {
		got = append(got, fmt.Sprintf("%s %d %d", group.Name, group.Clusters, group.Merged))
	}
	if len(groups) != 17 || got[0] != "north 20 0" || got[14] != "south 10 0" || got[15] != " 10 0" || got[16] != " 7 7" {
		t.Errorf("%q", got)
	}
}

func TestOverviewOfOneCluster(t *testing.T) {
	o := find(mixedfleet.Content(60), func(options *overview.Options) { options.Cluster = "cluster0010" })
	groups := o.Matrix.Groups
	if len(o.Clusters) != 1 || o.Clusters[0].Name != "cluster0010" || o.Reach.Clusters != 1 || len(groups) != 1 || groups[0].Clusters != 1 {
		t.Errorf("%+v", o)
	}
}

func TestNotices(t *testing.T) {
	for name, test := range map[string]struct {
		content snapshot.Content
		change  func(*overview.Options)
		want    []string
	}{
		"nothing to note": {oneCluster(), func(*overview.Options) {}, nil},
		"old data": {
			oneCluster(), func(options *overview.Options) { options.Now = options.Now.Add(11 * time.Minute) },
			[]string{"This data is old: it was read 11m before this page was made."},
		},
		"notes of the reader": {
			oneCluster(), func(options *overview.Options) { options.Notes = []string{"policies\n\x1b are left out"} },
			[]string{"policies   are left out"},
		},
		"stale and detached": {
			mixedfleet.Content(60), func(*overview.Options) {},
			[]string{
				"The conditions of 1 add-on are out of date", "1 managed cluster of the fleet will be detached",
			},
		},
	} {
		notices := find(test.content, test.change).Notices
		if len(notices) != len(test.want) {
			t.Errorf("%s: %+v", name, notices)
			continue
		}
		for i, want := range test.want {
			if !strings.HasPrefix(notices[i].Text, want) {
				t.Errorf("%s: %q, want %q", name, notices[i].Text, want)
			}
		}
	}
}

// TestOverviewIsBounded tests that an overview stays small, and says how much it leaves out.
func TestOverviewIsBounded(t *testing.T) {
	content := mixedfleet.Content(3000)
	for i := range content.AddOns {
		for j := range content.AddOns[i].Status.Conditions {
			content.AddOns[i].Status.Conditions[j].Message = strings.Repeat("x", 32<<10)
		}
	}
	o := find(content)
	encoded, err := json.Marshal(o)
	if err != nil || len(encoded) > 3<<19 {
		t.Errorf("%d KiB, %v", len(encoded)>>10, err)
	}
	affected := int(o.LeftOut.Clusters) + len(o.Clusters)
	if o.LeftOut.Clusters == 0 || affected < 500 {
		t.Errorf("%d of %d clusters are left out", o.LeftOut.Clusters, affected)
	}
	if first := o.Causes[0]; len(first.ClusterNames.Names)+first.ClusterNames.LeftOut != first.Clusters || first.ClusterNames.LeftOut == 0 {
		t.Errorf("%d clusters, %d names, and %d left out", first.Clusters, len(first.ClusterNames.Names), first.ClusterNames.LeftOut)
	}
}

// TestTextsAreSafe tests that each text of an overview of a hostile fleet is on a single line, and bounded.
func TestTextsAreSafe(t *testing.T) {
	o := find(mixedfleet.HostileContent(), func(options *overview.Options) {
		options.Hub, options.Selection, options.GroupBy = mixedfleet.Hostile, mixedfleet.Hostile, mixedfleet.Hostile
	})
	o.Graph = nil // the one part that its own packages make safe
	encoded, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(strings.NewReader(string(encoded)))
	for {
		token, err := decoder.Token()
		if err != nil {
			break
		}
		content, _ := token.(string)
		unsafe := func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }
		if len(content) > 4*report.MaxMessage || strings.ContainsFunc(content, unsafe) {
			t.Errorf("%.300q", content)
		}
	}
	for _, cause := range o.Causes {
		if len(cause.Run) > 0 {
			t.Errorf("a command with a hostile name: %q", cause.Run)
		}
	}
}

// BenchmarkFind makes the overview of 1,000 managed clusters with 10 add-ons.
func BenchmarkFind(b *testing.B) {
	hub := snapshot.New(mixedfleet.Content(1000))
	options := overview.Options{
		Now: hub.Taken, GroupBy: "region", Command: func(line string) string { return line }, Note: func(string) string { return "" },
	}
	for b.Loop() {
		if o := overview.Find(hub, options); len(o.Causes) == 0 {
			b.Fatal("no cause")
		}
	}
}
