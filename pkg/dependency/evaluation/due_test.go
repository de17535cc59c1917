package evaluation_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/test/fixture"
)

// TestDue: a finding is due where a live agent has still to report, and not where it is held for another reason.
func TestDue(t *testing.T) {
	requested := time.Unix(1000, 0)
	awaited := evaluation.Facts{Requested: requested}
	base := evaluation.Observation{
		Name: "base", Installed: true, Version: "1.0", Available: fixture.Available(metav1.ConditionTrue, "ManagedClusterAddOnLeaseUpdated"),
	}
	const (
		onAPI     = "dependencies: [{name: x, api: {kind: Tunnel}}]"
		onVersion = `dependencies: [{name: base, version: ">= 2"}]`
	)
	for name, test := range map[string]struct {
		declares string
		facts    evaluation.Facts
		lost     bool
		verdict  evaluation.Verdict
		due      bool
		says     string
	}{
		"API": {onAPI, awaited, false, evaluation.Held, true, "Whether API 'Tunnel' is served is not known yet."},
		"Version": {
			onVersion, awaited, false, evaluation.Held, true, "Whether addon 'base' is installed in version '>= 2' is not known yet.",
		},
		"VersionThatAnotherSourceHas": {
			`dependencies: [{name: base, version: ">= 1"}]`, awaited, false, evaluation.Satisfied, false, "",
		},
		"Conflict": {
			`dependencies: [{name: base, type: Conflicts, version: "< 2"}]`, awaited, false, evaluation.Held, true,
			"Whether addon 'base' is installed in version '< 2' is not known yet.",
		},
		"Condition": {
			`dependencies: [{name: base, when: {expression: "addOn.?version.orValue('').semverMatches('>= 1')"}}]`, awaited, false,
			evaluation.Held, true, "Whether the dependency on 'base' applies is not known yet.",
		},
		"Alternatives": {
			"dependencies: [{name: x, anyOf: [{addOn: other}, {api: {kind: Tunnel}}]}]", awaited, false, evaluation.Held, true,
			"Whether one of the alternatives of 'x' is available is not known yet.",
		},
		"AlternativesOfWhichOneIsHeld": {
			"dependencies: [{name: x, anyOf: [{api: {kind: Tunnel, servedBy: Hub}}, {api: {kind: Tunnel}}]}]", awaited, false,
			evaluation.Held, false, "",
		},
		"LostCluster": {onAPI, awaited, true, evaluation.Held, false, ""},
		"AgentIsAway": {
			onAPI, evaluation.Facts{Requested: requested, HeldUntil: requested.Add(time.Hour)}, false, evaluation.Held, false, "",
		},
		"NoReportInTime": {
			onAPI, evaluation.Facts{Requested: requested.Add(-evaluation.ReportTime)}, false, evaluation.APINotServed, false, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			declared := evaluation.New(catalog.New([]addonv1alpha1.ClusterManagementAddOn{
				fixture.Specified(t, "leaf", test.declares), fixture.Registration("base"), fixture.Registration("other"),
			}))
			cluster := evaluation.Cluster{
				Available: metav1.ConditionTrue, Offline: evaluation.OfflineHold, Now: requested.Add(time.Second), Facts: test.facts,
			}
			if test.lost {
				cluster.Available = metav1.ConditionUnknown
			}
			state := evaluation.State{Cluster: cluster, AddOns: evaluation.AddOns{base, {Name: "leaf", Installed: true}, {Name: "other"}}}
			finding := declared.Evaluate("leaf", state)[0]
			if finding.Verdict != test.verdict || finding.Due != test.due || finding.Unsatisfied() {
				if test.verdict != evaluation.APINotServed || finding.Verdict != test.verdict || finding.Due {
					t.Errorf("%s, due: %t", finding.Verdict, finding.Due)
				}
			}
			if says := finding.Sentence(""); test.due && says != test.says+" (addon-agent has not reported it yet)" {
				t.Errorf("%q", says)
			}
		})
	}
}
