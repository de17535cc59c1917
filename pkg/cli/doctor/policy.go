package doctor

import (
	"context"
	"fmt"

	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
)

// checkOfflinePolicy checks that the plugin could read the policy by which addon-manager evaluates.
func checkOfflinePolicy(_ context.Context, h *hub) []result {
	policy, manager := h.fleet.Policy(), h.fleet.Manager
	switch {
	case manager != nil && manager.Offline != "":
		return []result{{passed, fmt.Sprintf("The plugin evaluates as addon-manager does, with --offline=%s", policy), ""}}
	case manager != nil && manager.Unread != "":
		message := fmt.Sprintf("The value of --offline is not known, so the plugin evaluates with %s: %s", policy, manager.Unread)
		return []result{{unknown, message, rightsPage}}
	default:
		return []result{{unknown, fmt.Sprintf("The value of --offline is not known, so the plugin evaluates with %s", policy), rightsPage}}
	}
}

// describeLostVerdicts describes the verdicts on clusters that cannot be reached.
func describeLostVerdicts(h *hub) string {
	if h.fleet.Policy() == evaluation.OfflineStrict {
		return "their add-ons count as not available (--offline=strict)"
	}
	return "their verdicts are held"
}
