package doctor

import (
	"context"

	"open-cluster-management.io/interlock/pkg/cli/components"
)

// checkConsole checks the console where it is installed. It is optional.
func checkConsole(ctx context.Context, h *hub) []result {
	if installed, err := hasConsole(ctx, h); err == nil && !installed {
		return nil
	}
	return h.checkDeployment(ctx, components.Console, "Nobody can open the page of the fleet without it")
}
