package steps_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"open-cluster-management.io/interlock/pkg/dependency/plan/steps"
)

// The plugin does not install an add-on with a required setting that has no value either. The plan lists add-ons without settings.
func TestSettingsInPlans(t *testing.T) {
	addOns := hub{
		"base": "{" + manual + "}",
		"zoned": needing("{name: base, install: Auto, " +
			"settings: {variables: [{name: ZONE, valueFrom: \"cluster.labels[?'zone']\", required: true}]}}"),
		"nice": needing("{name: base, type: Optional, install: Auto, " +
			"settings: {variables: [{name: ZONE, valueFrom: \"cluster.labels[?'zone']\", required: true}]}}"),
		"user":  needing("{name: base}"),
		"plain": needing("{name: base, install: Auto, settings: {variables: [{name: MODE, value: grpc}]}}"),
	}
	const lacking = "setting 'ZONE' is required and has no value: valueFrom has none on this cluster"
	refers := "c1: 'base' refers to AddOnDeploymentConfig 'interlock-base', in which Interlock keeps the settings that other add-ons request"
	labeled, labeledUser := clusterWith("c1", ""), clusterWith("c1", "zoned")
	labeledUser.Labels["zone"] = "a"
	labeled.Labels["zone"] = "a"
	for name, test := range map[string]struct {
		addOn   string
		cluster steps.Cluster
		unset   string
		want    []string
	}{
		"WithAValue": {"zoned", labeled, "", []string{"1: base<zoned (c1)", "2: zoned (c1)", refers}},
		"WithoutAValue": {"zoned", clusterWith("c1", ""), "", []string{
			"1: base<zoned (c1)", "2: zoned (c1)", "! c1: 'base' cannot be installed for 'zoned': " + lacking, refers,
		}},
		"OfAnInstalledAddOn": {"base", clusterWith("c1", "zoned"), "", []string{
			"1: base (c1)", "! c1: 'base' cannot be installed for 'zoned': " + lacking, refers,
		}},
		"OfAnInstalledAddOnWithAValue": {"base", labeledUser, "", []string{"1: base (c1)", refers}},
		"OfAnOptionalEdge": {"base", clusterWith("c1", "nice"), "", []string{
			"1: base (c1)", "! c1: 'base' cannot be installed for 'nice': " + lacking, refers,
		}},
		"OfAnInstalledAddOnThatAnotherSharesItWith": {"user", clusterWith("c1", "zoned"), "", []string{
			"1: base<user (c1)", "2: user (c1)", "c1: 'base' is installed without what 'zoned' requests: " + lacking, refers,
		}},
		"WhereInterlockInstallsItForAnother": {"base", clusterWith("c1", "zoned plain"), "", []string{
			"1: base (c1)", "c1: 'base' is installed without what 'zoned' requests: " + lacking, refers,
		}},
		"OfAnAddOnThatIsBeingRemoved": {"base", clusterWith("c1", "-zoned"), "", []string{"1: base (c1)", refers}},
		"Unset": {"plain", clusterWith("c1", ""), "nobody keeps them", []string{
			"1: base<plain (c1)", "2: plain (c1)", "c1: 'base' gets no settings that other add-ons request: nobody keeps them",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			installation := steps.Installation{AddOns: []string{test.addOn}}
			if test.unset != "" {
				installation.Unset = map[string]string{"base": test.unset}
			}
			if diff := cmp.Diff(test.want, linesOf(steps.Install(addOns.evaluator(t), installation, []steps.Cluster{test.cluster}))); diff != "" {
				t.Errorf("-want, +got:\n%s", diff)
			}
		})
	}
}
