package evaluation

import (
	"fmt"
	"slices"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/settings"
	"open-cluster-management.io/interlock/pkg/text"
)

// Unset describes the requested settings of an installed add-on that are not set, one clause each. There are none if all
// of them are set, or if a value of another writer takes precedence.
func (f Finding) Unset() []string {
	if f.Detail == nil || len(f.Detail.Settings) == 0 || f.Verdict != Satisfied && f.Verdict != SettingMismatch {
		return nil
	}
	addOn := text.Name(declaration.Target(f.Dependency))
	var clauses []string
	if obstacle := describeObstacle(f.Detail.SettingOutcome.Obstacle, addOn); obstacle != "" {
		clauses = append(clauses, obstacle)
	}
	for _, variable := range f.Detail.Settings {
		setting := fmt.Sprintf("setting '%s' of '%s'", text.Name(variable.Name), addOn)
		switch {
		case variable.Problem != "":
			clauses = append(clauses, setting+" "+variable.Problem)
		case slices.Contains(f.Detail.SettingOutcome.Conflicts, variable.Name):
			clauses = append(clauses, setting+" is not set, because add-ons request different values")
		}
	}
	return clauses
}

// describeObstacle describes why no setting of an add-on is set. It is empty without an obstacle, and while none is known.
func describeObstacle(obstacle settings.Obstacle, addOn string) string {
	config := addonv1alpha1.SettingsConfigPrefix + addOn
	because := ""
	switch obstacle {
	case settings.NoObstacle, settings.Undecided:
		return ""
	case settings.NotRegistered:
		because = reasonUnregistered
	case settings.NotSupported:
		because = "its ClusterManagementAddOn does not list addondeploymentconfigs in spec.supportedConfigs"
	case settings.NotReferred:
		because = fmt.Sprintf("its ManagedClusterAddOn does not refer to AddOnDeploymentConfig '%s' alone", config)
	case settings.DefaultMissing:
		because = "its default AddOnDeploymentConfig is not found"
	case settings.NotOwned:
		because = fmt.Sprintf("AddOnDeploymentConfig '%s' is not Interlock's", config)
	case settings.Refused:
		because = fmt.Sprintf("the hub refuses to store AddOnDeploymentConfig '%s'; event SettingUnset has its response", config)
	case settings.Unsteady:
		because = fmt.Sprintf("they change, or AddOnDeploymentConfig '%s' is deleted, again and again", config)
	case settings.GivenUp:
		because = fmt.Sprintf("another writer changes AddOnDeploymentConfig '%s' again and again", config)
	}
	return fmt.Sprintf("Interlock does not set the settings of '%s' as requested, because %s", addOn, because)
}
