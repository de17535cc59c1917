package doctor

import (
	"context"
	"fmt"

	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
)

// offlinePolicy checks that the plugin knows by which policy addon-manager evaluates.
func offlinePolicy(_ context.Context, h *hub) []result {
	policy, manager := h.fleet.Policy(), h.fleet.Manager
	switch {
	case manager != nil && manager.Offline != "":
		return []result{{well, fmt.Sprintf("The plugin evaluates as addon-manager does, with --offline=%s", policy), ""}}
	case manager != nil && manager.Unread != "":
		return []result{{unknown, fmt.Sprintf("The value of --offline is not known, so the plugin evaluates with %s: %s", policy, manager.Unread), rightsPage}}
	default:
		return []result{{unknown, fmt.Sprintf("The value of --offline is not known, so the plugin evaluates with %s", policy), rightsPage}}
	}
}

// verdictsOnLost is what becomes of the verdicts on clusters that cannot be reached.
func verdictsOnLost(h *hub) string {
	if h.fleet.Policy() == evaluation.OfflineStrict {
		return "their add-ons count as not available (--offline=strict)"
	}
	return "their verdicts are held"
}
