package steps

import (
	"fmt"
	"maps"
	"slices"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/settings"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/text"
)

// requireSettings adds a problem for each required setting of an edge that has no value.
func (i *installing) requireSettings() {
	i.each(func(addOn string, finding *evaluation.Finding) bool {
		variables, _ := finding.Settings()
		target := declaration.Target(finding.Dependency)
		if lacking := settings.Lacking(variables); lacking != "" && i.hasStep(target) {
			i.problems.Insert(fmt.Sprintf("'%s' cannot be installed for '%s': %s", text.Name(target), text.Name(addOn), lacking))
		}
		return false
	})
}

// reportSettings adds a finding on each configurable add-on with a step: whether it gets the settings that other add-ons request.
func (i *installing) reportSettings() {
	for _, addOn := range slices.Sorted(maps.Keys(i.because)) {
		if !i.evaluator.IsSet(addOn) {
			continue
		}
		name, reason := text.Name(addOn), i.request.Unset[addOn]
		if i.byOCM.Has(addOn) {
			reason = "the ManagedClusterAddOn that a Placement creates does not refer to them"
		}
		if reason != "" {
			i.findings.Insert(fmt.Sprintf("'%s' gets no settings that other add-ons request: %s", name, reason))
			continue
		}
		i.findings.Insert(fmt.Sprintf(
			"'%s' refers to AddOnDeploymentConfig '%s%s', in which Interlock keeps the settings that other add-ons request",
			name, addonv1alpha1.SettingsConfigPrefix, name,
		))
	}
}
