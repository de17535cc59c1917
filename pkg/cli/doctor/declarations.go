package doctor

import (
	"context"
	"fmt"

	"open-cluster-management.io/interlock/pkg/dependency/declaration"
)

// unusable is a declaration that addon-manager does not use. The plugin may have another
// version than addon-manager, so it does not know whether that one is too old.
func unusable(what string, problem declaration.Problem, edit string) result {
	if problem.Reason == declaration.ProblemInterlockVersion {
		return result{
			unwell, fmt.Sprintf("What %s declares is for another version of Interlock than that of this plugin: %s", what, problem.Finding),
			"compare that with the version of addon-manager above, and update the older one",
		}
	}
	return result{unwell, fmt.Sprintf("What %s declares cannot be used: %s", what, problem.Finding), edit}
}

func declarations(_ context.Context, h *hub) (results []result) {
	declaring := 0
	for _, addOn := range h.fleet.Declared.AddOns() {
		if !h.fleet.Declared.Declaration(addOn).Empty() || len(h.fleet.Declared.Variants(addOn)) > 0 {
			declaring++
		}
		if h.fleet.Declared.Known(addOn) {
			continue
		}
		for _, problem := range h.fleet.Declared.Problems(addOn) {
			results = append(results, unusable(addOn, problem, "kubectl edit clustermanagementaddon "+addOn))
		}
	}
	for _, template := range h.fleet.Declared.TemplateNames() {
		if _, declared, _ := h.fleet.Declared.Template(template); !declared.Invalid {
			continue
		}
		for _, problem := range h.fleet.Declared.TemplateProblems(template) {
			results = append(results, unusable("AddOnTemplate "+template, problem, "kubectl edit addontemplate "+template))
		}
	}
	if len(results) == 0 {
		results = []result{{well, fmt.Sprintf("%d of %d add-ons declare dependencies, and all declarations can be used", declaring,
			len(h.fleet.Registrations)), ""}}
	}
	return results
}
