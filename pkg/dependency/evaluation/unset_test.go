package evaluation

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/settings"
)

func TestUnset(t *testing.T) {
	const notSet = "Interlock does not set the settings of 'base' as requested, because "
	mode, region := settings.Variable{Name: "mode", Value: "grpc"}, settings.Variable{Name: "region", Problem: "has no value: none"}
	for name, test := range map[string]struct {
		verdict   Verdict
		variables []settings.Variable
		outcome   settings.Outcome
		want      string
	}{
		"NoRequest":    {verdict: Satisfied, outcome: settings.Outcome{Obstacle: settings.NotReferred}},
		"Set":          {verdict: Satisfied, variables: []settings.Variable{mode}},
		"Undecided":    {verdict: Satisfied, variables: []settings.Variable{mode}, outcome: settings.Outcome{Obstacle: settings.Undecided}},
		"NotInstalled": {verdict: NotInstalled, variables: []settings.Variable{region}},
		"NoValue": {
			verdict: Satisfied, variables: []settings.Variable{mode, region}, want: "setting 'region' of 'base' has no value: none",
		},
		"Conflict": {
			verdict: SettingMismatch, variables: []settings.Variable{mode}, outcome: settings.Outcome{Conflicts: []string{"level", "mode"}},
			want: "setting 'mode' of 'base' is not set, because add-ons request different values",
		},
		"NotRegistered": {
			verdict: Satisfied, variables: []settings.Variable{mode}, outcome: settings.Outcome{Obstacle: settings.NotRegistered},
			want: notSet + "it has no ClusterManagementAddOn on this hub",
		},
		"NotSupported": {
			verdict: Satisfied, variables: []settings.Variable{mode}, outcome: settings.Outcome{Obstacle: settings.NotSupported},
			want: notSet + "its ClusterManagementAddOn does not list addondeploymentconfigs in " +
				"spec.supportedConfigs",
		},
		"NotReferred": {
			verdict: SettingMismatch, variables: []settings.Variable{mode}, outcome: settings.Outcome{Obstacle: settings.NotReferred},
			want: notSet + "its ManagedClusterAddOn does not refer to AddOnDeploymentConfig " +
				"'interlock-base' alone",
		},
		"DefaultMissing": {
			verdict: Satisfied, variables: []settings.Variable{mode}, outcome: settings.Outcome{Obstacle: settings.DefaultMissing},
			want: notSet + "its default AddOnDeploymentConfig is not found",
		},
		"NotOwned": {
			verdict: Satisfied, variables: []settings.Variable{mode}, outcome: settings.Outcome{Obstacle: settings.NotOwned},
			want: notSet + "AddOnDeploymentConfig 'interlock-base' is not Interlock's",
		},
		"Refused": {
			verdict: Satisfied, variables: []settings.Variable{mode}, outcome: settings.Outcome{Obstacle: settings.Refused},
			want: notSet + "the hub refuses to store AddOnDeploymentConfig 'interlock-base'; " +
				"event SettingUnset has its response",
		},
		"Unsteady": {
			verdict: Satisfied, variables: []settings.Variable{mode}, outcome: settings.Outcome{Obstacle: settings.Unsteady},
			want: notSet + "they change, or AddOnDeploymentConfig 'interlock-base' is " +
				"deleted, again and again",
		},
		"GivenUp": {
			verdict: Satisfied, variables: []settings.Variable{mode}, outcome: settings.Outcome{Obstacle: settings.GivenUp},
			want: notSet + "another writer changes AddOnDeploymentConfig 'interlock-base' again and again",
		},
	} {
		t.Run(name, func(t *testing.T) {
			finding := Finding{
				Verdict: test.verdict, Dependency: &addonv1alpha1.AddonDependency{Name: "base"},
				Detail: &Detail{Settings: test.variables, SettingOutcome: test.outcome},
			}
			if diff := cmp.Diff(test.want, strings.Join(finding.Unset(), " | ")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
