package protection

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/test/fixture"
)

// TestReviewInstallation: leaf 2.0 is on the cluster, and its gate is closed; stem is installed, and declares something of leaf.
func TestReviewInstallation(t *testing.T) {
	requested := time.Unix(1000, 0)
	const needsOld = `dependencies: [{name: leaf, version: "< 2.0"}]`
	for name, test := range map[string]struct {
		stem, leaf string
		facts      evaluation.Facts
		lost       bool
		message    string // begins with
		decided    bool
		until      time.Time
	}{
		"Contradicts": {stem: needsOld, leaf: "{}", message: "would break 1 add-on: stem: Required addon 'leaf'", decided: true},
		"ContradictsItself": {
			stem: "{}", leaf: "dependencies: [{name: stem, type: Conflicts}]", message: "contradicts what it needs: ",
			decided: true,
		},
		"Nothing":     {stem: `dependencies: [{name: leaf, version: ">= 2.0"}]`, leaf: "{}", decided: true},
		"NotDeclared": {stem: "{}", leaf: "{}", decided: true},
		"Optional":    {stem: `dependencies: [{name: leaf, type: Optional, version: "< 2.0"}]`, leaf: "{}", decided: true},
		"AnotherEdgeIsHeld": {
			stem: "dependencies: [{name: x, api: {kind: Tunnel}}]", leaf: "{}", facts: evaluation.Facts{Requested: requested}, decided: true,
			until: requested.Add(evaluation.ReportTime),
		},
		"AVersionIsDue": {
			stem: needsOld, leaf: "{}", facts: evaluation.Facts{Requested: requested}, until: requested.Add(evaluation.ReportTime),
		},
		"LostCluster": {stem: needsOld, leaf: "{}", lost: true},
	} {
		t.Run(name, func(t *testing.T) {
			declared := evaluation.New(catalog.New([]addonv1alpha1.ClusterManagementAddOn{
				fixture.Specified(t, "leaf", test.leaf), fixture.Specified(t, "stem", test.stem),
			}))
			state := evaluation.State{
				Cluster: evaluation.Cluster{
					Available: metav1.ConditionTrue, Offline: evaluation.OfflineHold, Now: requested.Add(time.Second), Facts: test.facts,
				},
				AddOns: evaluation.AddOns{
					{Name: "leaf", Installed: true, Version: "2.0"},
					{Name: "stem", Installed: true, Available: fixture.Available(metav1.ConditionTrue, "Fine")},
				},
			}
			if test.lost {
				state.Cluster.Available = metav1.ConditionUnknown
			}
			review := ReviewInstallation(declared, "leaf", map[string]evaluation.State{"leaf": state, "stem": state})
			message := review.Contradicted.Message("leaf")
			if !strings.HasPrefix(message, test.message) || test.message == "" && message != "" || review.Known != test.decided {
				t.Errorf("%q, known: %t", message, review.Known)
			}
			if !review.Until.Equal(test.until) {
				t.Errorf("until %s, want %s", review.Until, test.until)
			}
		})
	}
}
