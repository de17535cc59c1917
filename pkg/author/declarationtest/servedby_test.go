package declarationtest

import (
	"testing"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/test/fixture"
)

func TestAPIsOfOtherClusters(t *testing.T) {
	declarations := New([]addonv1alpha1.ClusterManagementAddOn{fixture.Specified(t, "x", `
dependencies:
- {name: placement, api: {group: g.io, kind: Placement, servedBy: Hub, fields: [spec.a]}}
- {name: monitors, api: {group: g.io, kind: Monitor, version: v1, servedBy: HostingCluster}}`)})
	placement := addonv1alpha1.AddonAPI{Group: "g.io", Version: "v1", Kind: "Placement"}
	monitor := addonv1alpha1.AddonAPI{Group: "g.io", Version: "v1", Kind: "Monitor"}
	hub, monitors := ServedAPIs{APIs: []addonv1alpha1.AddonAPI{placement}}, []addonv1alpha1.AddonAPI{monitor}
	older := ServedAPIs{hub.APIs, map[addonv1alpha1.AddonAPI][]string{placement: {"spec.b"}}}
	hosted := []AddOn{{Name: "x", HostingCluster: "hub-east"}}
	const notThere = "Required API 'Monitor.g.io/v1' is not served"
	for name, test := range map[string]struct {
		reason  string
		cluster Cluster
		want    string
	}{
		"Both": {"the cluster runs the agent itself", Cluster{Hub: hub, APIs: monitors}, ""},
		"NoHub": {
			"the managed cluster does not count",
			Cluster{APIs: append(monitors, placement)},
			"Required API 'Placement.g.io' is not served by the hub. (not served)",
		},
		"NoField": {
			"its schema is imagined without",
			Cluster{Hub: older, APIs: monitors},
			"Required API 'Placement.g.io' does not have the required fields on the hub. " +
				"(served, but its schema has no field spec.a)",
		},
		"Hosted": {
			"the hosting cluster counts",
			Cluster{Hub: hub, AddOns: hosted, HostingClusters: map[string]ServedAPIs{"hub-east": {APIs: monitors}}},
			"",
		},
		"NotThere": {
			"the managed cluster does not count",
			Cluster{Hub: hub, APIs: monitors, AddOns: hosted, HostingClusters: map[string]ServedAPIs{"hub-east": {}}},
			notThere + " by hosting cluster 'hub-east'. (not served)",
		},
		"Unregistered": {
			"the annotation names no cluster",
			Cluster{Hub: hub, APIs: monitors, AddOns: hosted},
			notThere + " by hosting cluster 'hub-east'. (not known: the hub has no managed cluster of that name, " +
				"which the annotation addon.open-cluster-management.io/hosting-cluster-name of the ManagedClusterAddOn has)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			if err := declarations.Check("x", test.cluster); err != nil {
				got = err.Error()
			}
			if got != test.want {
				t.Errorf("%s: got %q, want %q", test.reason, got, test.want)
			}
		})
	}
}
