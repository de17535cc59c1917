package doctor

import (
	"context"
	"fmt"

	"open-cluster-management.io/interlock/pkg/dependency/declaration"
)

// unusable returns the result for a declaration that cannot be used. The plugin may have another version than addon-manager, so it
// does not report addon-manager as too old.
func unusable(declarer string, problem declaration.Problem, edit string) result {
	if problem.Reason == declaration.ProblemInterlockVersion {
		return result{
			failed, fmt.Sprintf("What %s declares is for another version of Interlock than that of this plugin: %s", declarer, problem.Finding),
			"compare that with the version of addon-manager above, and update the older one",
		}
	}
	return result{failed, fmt.Sprintf("What %s declares cannot be used: %s", declarer, problem.Finding), edit}
}

func checkDeclarations(_ context.Context, h *hub) []result {
	var results []result
	declaring := 0
	for _, addOn := range h.fleet.Declared.AddOns() {
		if !h.fleet.Declared.Declaration(addOn).Empty() || len(h.fleet.Declared.Variants(addOn)) > 0 {
			declaring++
		}
		if h.fleet.Declared.Valid(addOn) {
			continue
		}
		for _, problem := range h.fleet.Declared.Problems(addOn) {
			results = append(results, unusable(addOn, problem, "kubectl edit clustermanagementaddon "+addOn))
		}
	}
	for _, template := range h.fleet.Declared.TemplateNames() {
		if _, parsed, _ := h.fleet.Declared.Template(template); !parsed.Invalid {
			continue
		}
		for _, problem := range h.fleet.Declared.TemplateProblems(template) {
			results = append(results, unusable("AddOnTemplate "+template, problem, "kubectl edit addontemplate "+template))
		}
	}
	if len(results) == 0 {
		results = []result{{passed, fmt.Sprintf("%d of %d add-ons declare dependencies, and all declarations can be used", declaring,
			len(h.fleet.Registrations)), ""}}
	}
	return results
}
