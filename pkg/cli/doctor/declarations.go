package doctor

import (
	"context"
	"fmt"
)

func declarations(_ context.Context, h *hub) (results []result) {
	declaring := 0
	for _, addOn := range h.fleet.Declared.AddOns() {
		if !h.fleet.Declared.Declaration(addOn).Empty() {
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
	if len(results) == 0 {
		results = []result{{well, fmt.Sprintf("%d of %d add-ons declare dependencies, and all declarations can be used", declaring,
			len(h.fleet.Registrations)), ""}}
	}
	return results
}
