package hubcmd

import (
	"context"
	"fmt"

	"open-cluster-management.io/interlock/pkg/cli/components"
	"open-cluster-management.io/interlock/pkg/cli/hubcmd/applyset"
	"open-cluster-management.io/interlock/pkg/cli/source"
)

// notInstalled returns the error for a namespace without an installation by these verbs. It names the tool that has installed Interlock
// there, if one has.
func notInstalled(ctx context.Context, hub *source.Applier, namespace string) error {
	deployment, err := components.Hub{Reader: hub, Namespace: namespace}.Deployment(ctx, components.Webhook)
	switch {
	case err != nil:
		return source.HubError(err, hub.Host)
	case deployment == nil:
		return fmt.Errorf("kubectl addon hub has installed nothing in the namespace %s: --interlock-namespace names another one", namespace)
	}
	owner := applyset.OwnerOf(deployment)
	if owner.IsHelm() {
		return fmt.Errorf("interlock in the namespace %s is of %s: use helm upgrade %s, or helm uninstall %[3]s -n %[4]s --timeout 10m",
			namespace, owner, owner.Release, owner.Namespace)
	}
	return fmt.Errorf("interlock in the namespace %s was not installed by kubectl addon hub, but by %s: docs/install.md#uninstall", namespace, owner)
}
