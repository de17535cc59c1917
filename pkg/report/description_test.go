package report_test

import (
	"slices"
	"testing"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/report"
	"open-cluster-management.io/interlock/test/fixture"
)

// A conflict is no need.
func TestDescribeConflicts(t *testing.T) {
	registrations := []addonv1alpha1.ClusterManagementAddOn{
		fixture.Specified(t, "a", `dependencies: [{name: old, type: Conflicts, version: "< 2"}]`),
		fixture.Specified(t, "b", "dependencies: [{name: old}]"),
		fixture.Specified(t, "c", `dependencies: [{name: old, type: Optional}, {name: not-beside, addOn: old, type: Conflicts}]`),
		fixture.Specified(t, "old", "{}"),
	}
	if got := report.Describe(registrations, nil, "a"); got.Needs[0].Subject != "no add-on old < 2" {
		t.Errorf("needs %q", got.Needs[0].Subject)
	}
	got := report.Describe(registrations, nil, "old")
	if !slices.Equal(got.NeededBy, []string{"b", "c"}) || !slices.Equal(got.ConflictsWith, []string{"a", "c"}) {
		t.Errorf("needed by %q, conflicts with %q", got.NeededBy, got.ConflictsWith)
	}
}
