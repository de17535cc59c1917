package doctor

import (
	"context"
	"fmt"
)

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
			results = append(results, result{
				unwell, fmt.Sprintf("What %s declares cannot be used: %s", addOn, problem.Finding), "kubectl edit clustermanagementaddon " + addOn,
			})
		}
	}
	for _, template := range h.fleet.Declared.TemplateNames() {
		if _, declared, _ := h.fleet.Declared.Template(template); !declared.Invalid {
			continue
		}
		for _, problem := range h.fleet.Declared.TemplateProblems(template) {
			results = append(results, result{
				unwell, fmt.Sprintf("What AddOnTemplate %s declares cannot be used: %s", template, problem.Finding), "kubectl edit addontemplate " + template,
			})
		}
	}
	if len(results) == 0 {
		results = []result{{well, fmt.Sprintf("%d of %d add-ons declare dependencies, and all declarations can be used", declaring,
			len(h.fleet.Registrations)), ""}}
	}
	return results
}
