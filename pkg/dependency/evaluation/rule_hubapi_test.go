package evaluation_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/test/fixture"
)

func TestAPIsOfTheHub(t *testing.T) {
	const (
		spec       = `dependencies: [{name: placement, api: {group: g.io, kind: Placement, version: v1beta1, servedBy: Hub}}]`
		withFields = `dependencies: [{name: placement, api: {group: g.io, kind: Placement, version: v1beta1, servedBy: Hub, fields: [spec.a]}}]`
	)
	api := addonv1alpha1.AddonAPI{Group: "g.io", Kind: "Placement", Version: "v1beta1"}
	knows := func(fact evaluation.APIFact) evaluation.Cluster {
		return evaluation.Cluster{Available: "True", Offline: evaluation.OfflineHold, HubAPIs: evaluation.APIFacts{api: fact}}
	}
	field := func(status metav1.ConditionStatus, versions ...string) map[string]evaluation.FieldFact {
		return map[string]evaluation.FieldFact{"spec.a": {Exists: status, Versions: versions, Message: "503"}}
	}
	lost := knows(evaluation.APIFact{Served: "False"})
	lost.Available = "Unknown"
	onCluster := evaluation.Cluster{Facts: evaluation.Facts{APIs: evaluation.APIFacts{api: {Served: "True"}}}}
	for name, tc := range map[string]ruleCase{
		"Served": {reason: "discovery has it", spec: spec, cluster: knows(evaluation.APIFact{Served: "True"}), want: "placement=Satisfied"},
		"NotServed": {
			reason: "discovery has the group without it", spec: spec, cluster: knows(evaluation.APIFact{Served: "False", Versions: []string{"v1"}}),
			want: "placement=APINotServed", message: "Required API 'Placement.g.io/v1beta1' is not served by the hub. (served in v1)",
		},
		"NoProvider": {
			reason: "add-ons provide APIs on managed clusters", spec: spec, cluster: knows(evaluation.APIFact{Served: "False"}),
			others: []addonv1alpha1.ClusterManagementAddOn{fixture.Specified(t, "p", `provides: [{group: g.io, kind: Placement}]`)},
			want:   "placement=APINotServed", message: "Required API 'Placement.g.io/v1beta1' is not served by the hub. (not served)",
		},
		"NotDiscovered": {reason: "a new edge degrades no fleet for a moment", spec: spec, want: "placement=Held"},
		"ManagedOnly":   {reason: "the managed cluster does not count", spec: spec, cluster: onCluster, want: "placement=Held"},
		"CannotBeKnown": {
			reason: "it says nothing about the add-on", spec: spec, cluster: knows(evaluation.APIFact{Served: "Unknown"}), want: "placement=Held",
		},
		"LostCluster": {reason: "nothing is written to what cannot be reached", spec: spec, cluster: lost, want: "placement=Held"},
		"FieldsAwaited": {
			reason: "a field of a new edge", spec: withFields, cluster: knows(evaluation.APIFact{Served: "True"}), want: "placement=Held",
		},
		"FieldsUnknown": {
			reason: "its schema cannot be read", spec: withFields,
			cluster: knows(evaluation.APIFact{Served: "True", Fields: field("Unknown")}), want: "placement=Held",
		},
		"FieldsSatisfied": {
			reason: "its schema has it", spec: withFields,
			cluster: knows(evaluation.APIFact{Served: "True", Fields: field("True", "v1beta1")}), want: "placement=Satisfied",
		},
		"FieldsMissing": {
			reason: "its schema has it in another version only", spec: withFields,
			cluster: knows(evaluation.APIFact{Served: "True", Fields: field("True", "v1")}), want: "placement=APINotServed",
			message: "Required API 'Placement.g.io/v1beta1' does not have the required fields on the hub. " +
				"(served, but its schema has no field spec.a)",
		},
	} {
		t.Run(name, tc.run)
	}
}

func TestAPIsOfHostingClusters(t *testing.T) {
	const spec = `dependencies: [{name: monitors, api: {group: g.io, kind: Monitor, servedBy: HostingCluster}}]`
	api, now := addonv1alpha1.AddonAPI{Group: "g.io", Kind: "Monitor"}, time.Unix(1000, 0)
	reports := func(served metav1.ConditionStatus) evaluation.Facts {
		return evaluation.Facts{APIs: evaluation.APIFacts{api: {Served: served}}}
	}
	own := evaluation.Cluster{Name: "cluster1", Now: now, Facts: reports("False")}
	hostedBy := func(host evaluation.HostingCluster) evaluation.Cluster {
		cluster1 := evaluation.Cluster{Name: "cluster1", Available: "True", Offline: evaluation.OfflineHold, Now: now, Facts: reports("True")}
		cluster1.Hosts = map[string]evaluation.HostingCluster{"hub-east": host}
		return cluster1
	}
	hosted := map[string]evaluation.Observation{"x": {Installed: true, HostingCluster: "hub-east"}}
	const sentence = "Required API 'Monitor.g.io' is not served by hosting cluster 'hub-east'. "
	for name, tc := range map[string]ruleCase{
		"Itself": {
			reason: "without hosted mode, the managed cluster runs the agent", spec: spec, cluster: own, want: "monitors=APINotServed",
			message: "Required API 'Monitor.g.io' is not served. (not served)",
		},
		"Served": {
			reason: "the agent there says so", spec: spec, addOns: hosted, want: "monitors=Satisfied",
			cluster: hostedBy(evaluation.HostingCluster{Available: "True", Facts: reports("True")}),
		},
		"NotServed": {
			reason: "that the managed cluster serves it does not help", spec: spec, addOns: hosted,
			cluster: hostedBy(evaluation.HostingCluster{Available: "True", Facts: reports("False")}),
			want:    "monitors=APINotServed", message: sentence + "(not served)",
		},
		"Provided": {
			reason: "the add-on can be installed there", spec: spec, addOns: hosted,
			others:  []addonv1alpha1.ClusterManagementAddOn{fixture.Specified(t, "p", `provides: [{group: g.io, kind: Monitor}]`)},
			cluster: hostedBy(evaluation.HostingCluster{Available: "True", Facts: reports("False")}),
			want:    "monitors=APINotServed", message: sentence + "(not served; provided by addon 'p')",
		},
		"Lost": {
			reason: "what it reported may have changed", spec: spec, addOns: hosted, want: "monitors=Held",
			cluster: hostedBy(evaluation.HostingCluster{Available: "Unknown", Facts: reports("False")}),
		},
		"Awaited": {
			reason: "its agent was requested to report a moment ago", spec: spec, addOns: hosted, want: "monitors=Held",
			cluster: hostedBy(evaluation.HostingCluster{Available: "True", Facts: evaluation.Facts{Requested: now}}),
		},
		"BackAgain": {
			reason: "the time counts from its return", spec: spec, addOns: hosted, want: "monitors=Held",
			cluster: hostedBy(evaluation.HostingCluster{Available: "True", Returned: now, Facts: evaluation.Facts{Requested: now.Add(-time.Hour)}}),
		},
		"NoAgent": {
			reason: "there is no agent to report", spec: spec, addOns: hosted,
			cluster: hostedBy(evaluation.HostingCluster{Available: "True", Facts: evaluation.Facts{Requested: now.Add(-time.Hour)}}),
			want:    "monitors=APINotServed", message: sentence + "(not known: the hosting cluster's addon-agent has not reported it)",
		},
		"Missing": {
			reason: "the annotation names no cluster of the hub", spec: spec, addOns: hosted,
			cluster: hostedBy(evaluation.HostingCluster{Missing: true}), want: "monitors=APINotServed",
			message: sentence + "(not known: the hub has no managed cluster of that name, which the annotation " +
				"addon.open-cluster-management.io/hosting-cluster-name of the ManagedClusterAddOn has)",
		},
		"NotRead": {reason: "it will be", spec: spec, addOns: hosted, cluster: own, want: "monitors=Held"},
	} {
		t.Run(name, tc.run)
	}
}
