package evaluation_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/test/fixture"
)

func TestAPIs(t *testing.T) {
	const (
		spec = `dependencies: [{name: permission-api, message: Roles are not propagated, ` +
			`api: {group: rbac.open-cluster-management.io, version: v1alpha1, kind: ClusterPermission}}]`
		sentence = "Required API 'ClusterPermission.rbac.open-cluster-management.io/v1alpha1' is not served. Roles are not propagated "
	)
	api := addonv1alpha1.AddonAPI{Group: "rbac.open-cluster-management.io", Version: "v1alpha1", Kind: "ClusterPermission"}
	asked := time.Unix(1000, 0)
	answered := func(fact evaluation.APIFact) evaluation.Cluster {
		return evaluation.Cluster{
			Facts: evaluation.Facts{Requested: asked, APIs: map[addonv1alpha1.AddonAPI]evaluation.APIFact{api: fact}},
			Now:   asked,
		}
	}
	heardOf := func(fact evaluation.APIFact) evaluation.Facts {
		return evaluation.Facts{HeldUntil: asked.Add(evaluation.SettleTime), APIs: map[addonv1alpha1.AddonAPI]evaluation.APIFact{api: fact}}
	}
	providers := []addonv1alpha1.ClusterManagementAddOn{
		fixture.Specified(
			t, "cluster-permission",
			`provides: [{group: rbac.open-cluster-management.io, version: v1alpha1, kind: ClusterPermission}]`,
		),
		fixture.Specified(t, "all-permissions", `provides: [{group: rbac.open-cluster-management.io, kind: ClusterPermission}]`),
		fixture.Specified(t, "new-permission", `provides: [{group: rbac.open-cluster-management.io, version: v1, kind: ClusterPermission}]`),
	}
	for name, tc := range map[string]ruleCase{
		"Served": {
			reason: "the agent says so", spec: spec, cluster: answered(evaluation.APIFact{Served: metav1.ConditionTrue}),
			want: "permission-api=Satisfied",
		},
		"NotServed": {
			reason: "no add-on provides it", spec: spec, cluster: answered(evaluation.APIFact{Served: metav1.ConditionFalse}),
			want: "permission-api=APINotServed", message: sentence + "(not served)",
		},
		"Providers": {
			reason: "those of the version, and of every version", spec: spec, others: providers,
			cluster: answered(evaluation.APIFact{Served: metav1.ConditionFalse}), want: "permission-api=APINotServed",
			message: sentence + "(not served; provided by addon 'all-permissions' or 'cluster-permission')",
		},
		"ProvidersToInstall": {
			reason: "Interlock does not choose", spec: strings.Replace(spec, "message:", "install: Auto, message:", 1), others: providers,
			cluster: answered(evaluation.APIFact{Served: metav1.ConditionFalse}), want: "permission-api=APINotServed",
			message: sentence + "(not served; provided by addon 'all-permissions' or 'cluster-permission'; " +
				"install: Auto has no effect, because several add-ons provide it: install one of them)",
		},
		"ProviderToInstall": {
			reason: "Interlock installs the only one",
			spec:   strings.Replace(spec, "message:", "install: Auto, message:", 1), others: providers[:1:1],
			cluster: answered(evaluation.APIFact{Served: metav1.ConditionFalse}), want: "permission-api=APINotServed",
			message: sentence + "(not served; provided by addon 'cluster-permission')",
		},
		"OtherVersions": {
			reason: "so that one sees what is wrong", spec: spec,
			cluster: answered(evaluation.APIFact{Served: metav1.ConditionFalse, Versions: []string{"v1", "v1beta1"}}),
			want:    "permission-api=APINotServed", message: sentence + "(served in v1, v1beta1)",
		},
		"Unknown": {
			reason: "the agent cannot find out", spec: spec,
			cluster: answered(evaluation.APIFact{Served: metav1.ConditionUnknown, Message: "discovery failed"}),
			want:    "permission-api=APINotServed", message: sentence + "(not known: discovery failed)",
		},
		"HeldForAnAnswer": {
			reason: "a new edge does not degrade the fleet for the moment that agents need", spec: spec,
			cluster: evaluation.Cluster{Facts: evaluation.Facts{Requested: asked}, Now: asked},
			want:    "permission-api=Held",
		},
		"NoAnswer": {
			reason: "an old agent never answers", spec: spec,
			cluster: evaluation.Cluster{Facts: evaluation.Facts{Requested: asked}, Now: asked.Add(evaluation.ReportTime)},
			want:    "permission-api=APINotServed", message: sentence + "(not known: the managed cluster's addon-agent has not reported it)",
		},
		"RequestedWhileAway": {
			reason: "the time counts from the return", spec: spec,
			cluster: evaluation.Cluster{
				Available: "True", Offline: evaluation.OfflineHold, Facts: evaluation.Facts{Requested: asked},
				Returned: asked.Add(time.Hour), Now: asked.Add(time.Hour + evaluation.ReportTime - 1),
			},
			want: "permission-api=Held",
		},
		"RequestedWhileAwayNoAnswer": {
			reason: "and it ends", spec: spec,
			cluster: evaluation.Cluster{
				Available: "True", Offline: evaluation.OfflineHold, Facts: evaluation.Facts{Requested: asked},
				Returned: asked.Add(time.Hour), Now: asked.Add(time.Hour + evaluation.ReportTime),
			},
			want: "permission-api=APINotServed", message: sentence + "(not known: the managed cluster's addon-agent has not reported it)",
		},
		"ReturnedByAnotherClock": {
			reason: "a return that lies far ahead did not happen", spec: spec,
			cluster: evaluation.Cluster{
				Available: "True", Offline: evaluation.OfflineHold, Facts: evaluation.Facts{Requested: asked},
				Returned: asked.Add(time.Hour), Now: asked.Add(evaluation.ReportTime),
			},
			want: "permission-api=APINotServed", message: sentence + "(not known: the managed cluster's addon-agent has not reported it)",
		},
		"ALeaderHasStarted": {
			reason: "what was not answered in time is not awaited again", spec: spec,
			cluster: evaluation.Cluster{
				Available: "True", Offline: evaluation.OfflineHold, Facts: evaluation.Facts{Requested: asked},
				Back: asked.Add(time.Hour), Returned: asked.Add(-time.Hour), Now: asked.Add(time.Hour),
			},
			want: "permission-api=APINotServed", message: sentence + "(not known: the managed cluster's addon-agent has not reported it)",
		},
		"RequestedAfterTheReturn": {
			reason: "the time counts from the request", spec: spec,
			cluster: evaluation.Cluster{
				Available: "True", Offline: evaluation.OfflineHold, Facts: evaluation.Facts{Requested: asked},
				Returned: asked.Add(-time.Hour), Now: asked.Add(evaluation.ReportTime - 1),
			},
			want: "permission-api=Held",
		},
		"AgentMayReport": {
			reason: "what it reported before the loss counts neither way", spec: spec,
			cluster: evaluation.Cluster{
				Available: "True", Offline: evaluation.OfflineHold,
				Facts: heardOf(evaluation.APIFact{Served: metav1.ConditionTrue}), Now: asked,
			},
			want: "permission-api=Held",
		},
		"AgentMayReportStrict": {
			reason: "strict knows no holding", spec: spec,
			cluster: evaluation.Cluster{
				Available: "True", Offline: evaluation.OfflineStrict,
				Facts: heardOf(evaluation.APIFact{Served: metav1.ConditionTrue}), Now: asked,
			},
			want: "permission-api=Satisfied",
		},
		"AgentDoesNotReport": {
			reason: "until its time is over", spec: spec,
			cluster: evaluation.Cluster{
				Available: "True", Offline: evaluation.OfflineHold,
				Facts: heardOf(evaluation.APIFact{Served: "Unknown", Message: "no agent"}), Now: asked.Add(evaluation.SettleTime),
			},
			want: "permission-api=APINotServed", message: sentence + "(not known: no agent)",
		},
		"NobodyAsked": {
			reason: "without facts it does not wait for ever", spec: spec, cluster: evaluation.Cluster{Now: asked},
			want:    "permission-api=APINotServed",
			message: sentence + "(not known: the managed cluster's addon-agent has not reported it)",
		},
		"Core": {
			reason:  "Carvel: dep2, a gvk; here of the core group, in any version",
			spec:    `dependencies: [{name: dep2, type: Optional, api: {kind: MainApi}}]`,
			want:    "dep2=APINotServed",
			message: "Optional API 'MainApi' is not served. (not known: the managed cluster's addon-agent has not reported it)",
		},
	} {
		t.Run(name, tc.run)
	}
}
