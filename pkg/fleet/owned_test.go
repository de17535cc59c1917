package fleet

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/condition/outcome"
	"open-cluster-management.io/interlock/pkg/names"
)

// TestConditionsThatAreOwnedInPartAreApplied tests that a write has every condition in which addon-manager owns fields. Server-side apply
// would remove these fields otherwise: the API server refuses half a condition, or the condition of another writer is lost.
func TestConditionsThatAreOwnedInPartAreApplied(t *testing.T) {
	const isTrue, isFalse = metav1.ConditionTrue, metav1.ConditionFalse
	for name, test := range map[string]struct {
		kind, reason string
		status       metav1.ConditionStatus
		owned        string // the condition in the managed fields of addon-manager
		want         bool
	}{
		"Degraded of another writer":              {"Degraded", "DiskFull", isTrue, "Available", false},
		"Degraded that another writer changed":    {"Degraded", "DiskFull", isTrue, "Degraded", true},
		"ReplacedDegraded that another one wrote": {"ReplacedDegraded", "NothingReplaced", isFalse, "ReplacedDegraded", true},
		"Installable of an add-on's own manager":  {"Installable", "Ready", isTrue, "Degraded", false},
		"Installable without the gate":            {"Installable", "GateOpened", isTrue, "Installable", true},
	} {
		full := &addonv1alpha1.ManagedClusterAddOn{}
		full.Status.Conditions = []metav1.Condition{{Type: test.kind, Status: test.status, Reason: test.reason}}
		full.ManagedFields = []metav1.ManagedFieldsEntry{{
			Manager: names.AddonManager, Operation: metav1.ManagedFieldsOperationApply,
			FieldsV1: &metav1.FieldsV1{Raw: []byte(`{"f:status":{"f:conditions":{"k:{\"type\":\"` + test.owned + `\"}":{"f:status":{}}}}}`)},
		}}
		for form, addOn := range map[string]*addonv1alpha1.ManagedClusterAddOn{"full": full, "cached": LeanAddOn(full)} {
			applied := outcome.Decision{}.Conditions(Stored(addOn))
			got := slices.ContainsFunc(applied, func(c metav1.Condition) bool { return c.Type == test.kind })
			if got != test.want {
				t.Errorf("%s, %s: applied %v", name, form, applied)
			}
		}
	}
}
