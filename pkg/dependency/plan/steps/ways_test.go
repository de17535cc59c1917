package steps_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/plan/steps"
	"open-cluster-management.io/interlock/test/fixture"
)

// A Placement that selects a label selects every managed cluster with the label, so the plan names the label.
func TestPlacementsOfLabels(t *testing.T) {
	const (
		labeled    = "{namespace: labels, name: base}, {namespace: labels, name: base-2}"
		edge, west = "{namespace: places, name: edge}", "{namespace: places, name: west}"

		label     = "install.dependency.addon.open-cluster-management.io/base"
		withdrawn = "uninstall the add-ons that depend on 'base' with install: Auto, and remove the label"
	)
	for name, test := range map[string]struct{ placements, installs, removes string }{
		"Labeled": {
			labeled,
			"! c1: 'base' is installed on managed clusters with the label '" + label + "=true': set it on the ManagedCluster, or install " +
				"an add-on that depends on 'base' with install: Auto",
			"! c1: 'base' is installed on managed clusters with the label '" + label + "', which the ManagedCluster may not have, else it " +
				"is installed again: " + withdrawn,
		},
		"LabeledAndAnother": {
			labeled + ", " + edge,
			"! c1: 'base' is installed by Placements: 'places/edge' has to select the cluster",
			"! c1: 'base' is installed by Placements: 'places/edge' may not select the cluster, and it may not have the label '" + label +
				"', else it is installed again: change the Placement, " + withdrawn,
		},
		"Others": {
			edge + ", " + west,
			"! c1: 'base' is installed by Placements: 'places/edge' or 'places/west' has to select the cluster",
			"! c1: 'base' is installed by Placements: 'places/edge' and 'places/west' may not select the cluster, else it is installed again: " +
				"change the Placement, or take it from ClusterManagementAddOn 'base'",
		},
	} {
		t.Run(name, func(t *testing.T) {
			addOns := hub{"base": "{installStrategy: {type: Placements, placements: [" + test.placements + "]}}"}
			named := []string{"base"}
			missing, installed := selected(clusterWith("c1", "")), selected(clusterWith("c1", "base"), "base")
			installs := linesOf(steps.Install(addOns.evaluator(t), steps.Installation{AddOns: named}, []steps.Cluster{missing}))
			removes := linesOf(steps.Remove(addOns.evaluator(t), steps.Removal{AddOns: named}, []steps.Cluster{installed}))
			if diff := cmp.Diff([]string{"1: base by OCM (c1)", test.installs}, installs); diff != "" {
				t.Errorf("install: -want, +got:\n%s", diff)
			}
			if diff := cmp.Diff([]string{"1: base (c1)", test.removes}, removes); diff != "" {
				t.Errorf("uninstall: -want, +got:\n%s", diff)
			}
		})
	}
}

// Where the plan cannot know the consent, it explains why. It does not request a label that the cluster has.
func TestPlacementsThatSelectNothing(t *testing.T) {
	labeled := selected(clusterWith("c1", ""))
	labeled.Labels["install.dependency.addon.open-cluster-management.io/base"] = "true"
	addOns := hub{"base": "{installStrategy: {type: Placements, placements: [{namespace: labels, name: base}]}}"}
	read := addOns.evaluator(t)
	untolerant := fixture.Consenting("labels", "base", "base")
	untolerant.Spec.Tolerations = nil
	for name, test := range map[string]struct {
		declared *evaluation.Evaluator
		cluster  steps.Cluster
		want     string
	}{
		"HasTheLabel": {read, labeled, ""},
		"PlacementsUnread": {
			evaluation.New(read.Consented(catalog.Placements{Unread: true})), selected(clusterWith("c1", "")),
			"; whether its owner consents to installations by Interlock could not be read",
		},
		"DoesNotTolerateEveryTaint": {
			evaluation.New(read.Consented(catalog.Placements{Items: []clusterv1beta1.Placement{untolerant}})), selected(clusterWith("c1", "")),
			"; Placement labels/base does not tolerate every taint, so it uninstalls the add-on from a cluster that is lost: " +
				"set spec.tolerations to [{operator: Exists}]",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := linesOf(steps.Install(test.declared, steps.Installation{AddOns: []string{"base"}}, []steps.Cluster{test.cluster}))
			want := []string{"1: base by OCM (c1)", "! c1: 'base' is installed by Placements: 'labels/base' has to select the cluster" + test.want}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want, +got:\n%s", diff)
			}
		})
	}
}
