package evaluation_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/fixture"
)

func TestAPIs(t *testing.T) {
	const (
		spec     = `dependencies: [{name: permission-api, message: Roles are not propagated, api: {group: rbac.open-cluster-management.io, version: v1alpha1, kind: ClusterPermission}}]`
		sentence = "Required API 'ClusterPermission.rbac.open-cluster-management.io/v1alpha1' is not served. Roles are not propagated "
	)
	api := addonv1alpha1.AddonAPI{Group: "rbac.open-cluster-management.io", Version: "v1alpha1", Kind: "ClusterPermission"}
	asked := time.Unix(1000, 0)
	answered := func(fact evaluation.APIFact) evaluation.Cluster {
		return evaluation.Cluster{Facts: evaluation.Facts{Requested: asked, APIs: map[addonv1alpha1.AddonAPI]evaluation.APIFact{api: fact}}, Now: asked}
	}
	heardOf := func(fact evaluation.APIFact) evaluation.Facts {
		return evaluation.Facts{HeldUntil: asked.Add(evaluation.SettleTime), APIs: map[addonv1alpha1.AddonAPI]evaluation.APIFact{api: fact}}
	}
	providers := []addonv1alpha1.ClusterManagementAddOn{
		fixture.Specified(t, "cluster-permission", `provides: [{group: rbac.open-cluster-management.io, version: v1alpha1, kind: ClusterPermission}]`),
		fixture.Specified(t, "all-permissions", `provides: [{group: rbac.open-cluster-management.io, kind: ClusterPermission}]`),
		fixture.Specified(t, "new-permission", `provides: [{group: rbac.open-cluster-management.io, version: v1, kind: ClusterPermission}]`),
	}
	for name, tc := range map[string]ruleCase{
		"Served":        {"the agent says so", spec, nil, answered(evaluation.APIFact{Served: metav1.ConditionTrue}), nil, "permission-api=Satisfied", ""},
		"NotServed":     {"no add-on provides it", spec, nil, answered(evaluation.APIFact{Served: metav1.ConditionFalse}), nil, "permission-api=APINotServed", sentence + "(not served)"},
		"Providers":     {"those of the version, and of every version", spec, providers, answered(evaluation.APIFact{Served: metav1.ConditionFalse}), nil, "permission-api=APINotServed", sentence + "(not served; provided by addon 'all-permissions' or 'cluster-permission')"},
		"OtherVersions": {"so that one sees what is wrong", spec, nil, answered(evaluation.APIFact{Served: metav1.ConditionFalse, Versions: []string{"v1", "v1beta1"}}), nil, "permission-api=APINotServed", sentence + "(served in v1, v1beta1)"},
		"Unknown":       {"the agent cannot find out", spec, nil, answered(evaluation.APIFact{Served: metav1.ConditionUnknown, Message: "discovery failed"}), nil, "permission-api=APINotServed", sentence + "(not known: discovery failed)"},
		"HeldForAnAnswer": {
			"a new edge does not degrade the fleet for the moment that agents need", spec, nil,
			evaluation.Cluster{Facts: evaluation.Facts{Requested: asked}, Now: asked},
			nil,
			"permission-api=Held", "",
		},
		"NoAnswer": {
			"an old agent never answers", spec, nil,
			evaluation.Cluster{Facts: evaluation.Facts{Requested: asked}, Now: asked.Add(evaluation.ReportTime)},
			nil,
			"permission-api=APINotServed", sentence + "(not known: the managed cluster's addon-agent has not answered)",
		},
		"RequestedWhileAway": {
			"the time counts from the return", spec, nil,
			evaluation.Cluster{Available: "True", Offline: evaluation.OfflineHold, Facts: evaluation.Facts{Requested: asked}, Back: asked.Add(time.Hour), Now: asked.Add(time.Hour + evaluation.ReportTime - 1)},
			nil,
			"permission-api=Held", "",
		},
		"RequestedWhileAwayNoAnswer": {
			"and it ends", spec, nil,
			evaluation.Cluster{Available: "True", Offline: evaluation.OfflineHold, Facts: evaluation.Facts{Requested: asked}, Back: asked.Add(time.Hour), Now: asked.Add(time.Hour + evaluation.ReportTime)},
			nil,
			"permission-api=APINotServed", sentence + "(not known: the managed cluster's addon-agent has not answered)",
		},
		"RequestedAfterTheReturn": {
			"the time counts from the request", spec, nil,
			evaluation.Cluster{Available: "True", Offline: evaluation.OfflineHold, Facts: evaluation.Facts{Requested: asked}, Back: asked.Add(-time.Hour), Now: asked.Add(evaluation.ReportTime - 1)},
			nil,
			"permission-api=Held", "",
		},
		"AgentMayReport": {
			"what it reported before the loss counts neither way", spec, nil,
			evaluation.Cluster{Available: "True", Offline: evaluation.OfflineHold, Facts: heardOf(evaluation.APIFact{Served: metav1.ConditionTrue}), Now: asked},
			nil,
			"permission-api=Held", "",
		},
		"AgentMayReportStrict": {
			"strict knows no holding", spec, nil,
			evaluation.Cluster{Available: "True", Offline: evaluation.OfflineStrict, Facts: heardOf(evaluation.APIFact{Served: metav1.ConditionTrue}), Now: asked},
			nil,
			"permission-api=Satisfied", "",
		},
		"AgentDoesNotReport": {
			"until its time is over", spec, nil,
			evaluation.Cluster{Available: "True", Offline: evaluation.OfflineHold, Facts: heardOf(evaluation.APIFact{Served: "Unknown", Message: "no agent"}), Now: asked.Add(evaluation.SettleTime)},
			nil,
			"permission-api=APINotServed", sentence + "(not known: no agent)",
		},
		"NobodyAsked": {"without facts it does not wait for ever", spec, nil, evaluation.Cluster{Now: asked}, nil, "permission-api=APINotServed", sentence + "(not known: the managed cluster's addon-agent has not answered)"},
		"Core": {
			"Carvel: dep2, a gvk; here of the core group, in any version", `dependencies: [{name: dep2, type: Optional, api: {kind: MainApi}}]`, nil,
			evaluation.Cluster{},
			nil,
			"dep2=APINotServed", "Optional API 'MainApi' is not served. (not known: the managed cluster's addon-agent has not answered)",
		},
	} {
		t.Run(name, tc.run)
	}
}
