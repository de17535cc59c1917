package steps_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"open-cluster-management.io/interlock/pkg/dependency/steps"
)

// No user can make the Placement of Interlock select a cluster: the plan says what helps instead.
func TestThePlacementOfInterlock(t *testing.T) {
	const (
		ours           = "{namespace: open-cluster-management-interlock, name: base}"
		another, third = "{namespace: places, name: edge}", "{namespace: places, name: west}"
	)
	for name, test := range map[string]struct{ placements, installs, removes string }{
		"Ours": {
			ours,
			"! c1: 'base' is installed by Placements, and ClusterManagementAddOn 'base' lists only that of Interlock: " +
				"list a Placement that selects the cluster, or install an add-on that depends on 'base' with install: Auto",
			"! c1: 'base' is installed by the Placement of Interlock, which may not select the cluster, else it is installed again: " +
				"uninstall the add-ons that depend on 'base' with install: Auto, and Interlock changes it",
		},
		"OursAndAnother": {
			ours + ", " + another,
			"! c1: 'base' is installed by Placements: 'places/edge' has to select the cluster",
			"! c1: 'base' is installed by Placements: 'places/edge' may not select the cluster, nor that of Interlock, else it is installed " +
				"again: change the Placement, or uninstall the add-ons that depend on 'base' with install: Auto",
		},
		"Others": {
			another + ", " + third,
			"! c1: 'base' is installed by Placements: 'places/edge' or 'places/west' has to select the cluster",
			"! c1: 'base' is installed by Placements: 'places/edge' and 'places/west' may not select the cluster, else it is installed again: " +
				"change the Placement, or take it from ClusterManagementAddOn 'base'",
		},
	} {
		t.Run(name, func(t *testing.T) {
			all := hub{"base": "{installStrategy: {type: Placements, placements: [" + test.placements + "]}}"}
			named := []string{"base"}
			installs := shown(steps.Install(all.evaluator(t), steps.Installation{AddOns: named}, []steps.Cluster{selected(on("c1", ""))}))
			removes := shown(steps.Remove(all.evaluator(t), steps.Removal{AddOns: named}, []steps.Cluster{selected(on("c1", "base"), "base")}))
			if diff := cmp.Diff([]string{"1: base by OCM (c1)", test.installs}, installs); diff != "" {
				t.Errorf("install: -want, +got:\n%s", diff)
			}
			if diff := cmp.Diff([]string{"1: base (c1)", test.removes}, removes); diff != "" {
				t.Errorf("uninstall: -want, +got:\n%s", diff)
			}
		})
	}
}
