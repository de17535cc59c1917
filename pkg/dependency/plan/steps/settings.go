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

// requireSettings adds a problem for each required setting without a value. Edges of add-ons that are installed already count, too: they
// may be why the user installs the add-on. An edge that the plan need not satisfy does not stop an add-on that other edges need.
func (i *installing) requireSettings() {
	for _, addOn := range slices.Sorted(maps.Keys(i.planned)) {
		_, awaited := i.awaited[addOn]
		findings := settle(i.evaluator, i.cluster, i.planned, addOn)
		for f := range findings {
			finding := &findings[f]
			target, lacking := lackedSettings(finding)
			switch {
			case lacking == "" || !i.hasStep(target):
			case awaited && i.mustSatisfy(finding), !i.byOCM.Has(target) && !i.isNeeded(target):
				i.problems.Insert(fmt.Sprintf("'%s' cannot be installed for '%s': %s", text.Name(target), text.Name(addOn), lacking))
			default:
				i.findings.Insert(fmt.Sprintf("'%s' is installed without what '%s' requests: %s", text.Name(target), text.Name(addOn), lacking))
			}
		}
	}
}

// lackedSettings returns the add-on of an edge, and the text about its required settings without a value. The text is empty if the edge
// has no effect on the cluster.
func lackedSettings(finding *evaluation.Finding) (target, lacking string) {
	if finding.Dependency == nil || finding.Verdict == evaluation.NotApplicable || finding.Verdict == evaluation.Waived {
		return "", ""
	}
	variables, _ := finding.Settings()
	return declaration.Target(finding.Dependency), settings.Lacking(variables)
}

// isNeeded reports whether the plan has an add-on for another one, or Interlock would install it.
func (i *installing) isNeeded(addOn string) bool {
	return i.because[addOn].Len() > 0 || len(i.requesters(addOn)) > 0
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
