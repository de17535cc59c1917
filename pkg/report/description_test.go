package report_test

import (
	"slices"
	"testing"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/report"
	"open-cluster-management.io/interlock/test/fixture"
)

// A conflict is no need: an add-on is not needed by those that do not work beside it.
func TestDescribeConflicts(t *testing.T) {
	all := []addonv1alpha1.ClusterManagementAddOn{
		fixture.Specified(t, "a", `dependencies: [{name: old, type: Conflicts, version: "< 2"}]`),
		fixture.Specified(t, "b", "dependencies: [{name: old}]"),
		fixture.Specified(t, "c", `dependencies: [{name: old, type: Optional}, {name: not-beside, addOn: old, type: Conflicts}]`),
		fixture.Specified(t, "old", "{}"),
	}
	if found := report.Describe(all, nil, "a"); found.Needs[0].What != "no add-on old < 2" {
		t.Errorf("needs %q", found.Needs[0].What)
	}
	found := report.Describe(all, nil, "old")
	if !slices.Equal(found.NeededBy, []string{"b", "c"}) || !slices.Equal(found.ConflictsWith, []string{"a", "c"}) {
		t.Errorf("needed by %q, conflicts with %q", found.NeededBy, found.ConflictsWith)
	}
}
