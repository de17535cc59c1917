package overview_test

import (
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/report/overview"
	"open-cluster-management.io/interlock/test/fixture"
	"open-cluster-management.io/interlock/test/mixedfleet"
)

// TestUnreachable tests the entry about managed clusters that cannot be reached.
func TestUnreachable(t *testing.T) {
	const note = "Nothing new is known of the add-ons there: their state is Lost, and no root cause counts them. Clusters that are lost at " +
		"the same time, and have something in common, may have lost the way to the hub."
	for name, test := range map[string]struct {
		content snapshot.Content
		change  func(*overview.Options)
		want    *overview.Unreachable
	}{
		"none": {mixedfleet.Content(11), func(*overview.Options) {}, nil},
		"a cluster": {
			mixedfleet.Content(12), func(*overview.Options) {},
			&overview.Unreachable{
				Title: "1 managed cluster cannot be reached", On: "1 of 12 managed clusters, with 10 add-ons", Since: fixture.Earlier.UTC(),
				Place: "on cluster0011", Note: note, Run: "kubectl describe managedcluster cluster0011", Effect: "only reads", Clusters: 1,
				ClusterNames: overview.Names{Names: []string{"cluster0011"}},
			},
		},
		"clusters of one set": {
			firstLost(mixedfleet.Content(100), "cluster0051"), func(*overview.Options) {},
			&overview.Unreachable{
				Title: "3 managed clusters cannot be reached", On: "3 of 99 managed clusters, with 30 add-ons",
				Since: fixture.Earlier.Add(-1).UTC(), Place: "first on cluster0051",
				InCommon: []string{"label cluster.open-cluster-management.io/clusterset=production-us: 3 of the 3, and 17 of the 96 other clusters"},
				Note:     note, Run: "kubectl describe managedcluster cluster0051",
				Effect:   "only reads, and shows cluster0051, one of the 3: for another one, replace its name",
				Clusters: 3, ClusterNames: overview.Names{Names: []string{"cluster0011", "cluster0051", "cluster0091"}},
			},
		},
		"another cluster is shown": {
			mixedfleet.Content(60), func(options *overview.Options) { options.Cluster = "cluster0001" }, nil,
		},
	} {
		if diff := gocmp.Diff(test.want, find(test.content, test.change).Unreachable); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// firstLost makes a managed cluster the first that could not be reached.
func firstLost(content snapshot.Content, cluster string) snapshot.Content {
	for i := range content.Clusters {
		if content.Clusters[i].Name == cluster {
			content.Clusters[i].Status.Conditions[0].LastTransitionTime = metav1.NewTime(fixture.Earlier.Add(-1))
		}
	}
	return content
}

// TestNodeStates tests where an add-on counts as missing.
func TestNodeStates(t *testing.T) {
	content := mixedfleet.Content(60)
	finder := overview.New(snapshot.New(content), overview.Options{
		Now: content.Taken, GroupBy: "region", Command: func(line string) string { return line }, Note: func(string) string { return "" },
	})
	const addOn = "governance-policy-framework"
	for filter, want := range map[[2]string]int{
		{"", ""}: 2, {"cluster0007", ""}: 1, {"cluster0006", ""}: 0, {"", "region-0"}: 1, {"", "region-1"}: 1, {"", "region-2"}: 0,
	} {
		if got := finder.NodeStates(filter[0], filter[1]); got[addOn].Missing != want || got["work-manager"].Missing != 0 {
			t.Errorf("%q: %d are missing, want %d", filter, got[addOn].Missing, want)
		}
	}
}
