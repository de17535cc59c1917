package doctor

import (
	"context"
	"fmt"

	"open-cluster-management.io/interlock/pkg/cli/components"
	"open-cluster-management.io/interlock/pkg/names"
)

// versionOf returns the version of a part by the tag of its image. It returns an empty string if the part or the tag is missing.
func (h *hub) versionOf(ctx context.Context, deployment string) (string, error) {
	object, err := h.Deployment(ctx, deployment)
	return components.VersionOf(object), err
}

// versionDiffers reports whether addon-manager has another version than this plugin. The manifests of the plugin are then not the
// right ones for the hub. If a version is not known, versionDiffers returns false.
func (h *hub) versionDiffers(ctx context.Context) bool {
	manager, err := h.versionOf(ctx, names.AddonManager)
	return err == nil && manager != "" && h.plugin != "" && manager != h.plugin
}

// checkVersions compares the versions of all parts with addon-manager's.
func checkVersions(ctx context.Context, h *hub) []result {
	manager, err := h.versionOf(ctx, names.AddonManager)
	if err != nil {
		return unreadable("The version of addon-manager", err)
	}
	if manager == "" {
		return []result{{note, "The version of addon-manager is not known: its image has no tag", "docs/install.md"}}
	}
	webhook, err := h.versionOf(ctx, webhookName)
	if err != nil {
		return unreadable("The version of the webhook", err)
	}
	console, err := h.versionOf(ctx, components.Console)
	if err != nil {
		return unreadable("The version of the console", err)
	}
	agent, err := h.Agent(ctx)
	if err != nil {
		return unreadable("The AddOnTemplate "+agentAddOn, err)
	}
	var results []result
	for _, part := range []struct {
		result
		version string
	}{
		{result{failed, webhookName, "helm upgrade, kubectl addon hub upgrade, or kubectl apply -k deploy/hub, with one version for both"}, webhook},
		{result{note, components.Console, "helm upgrade, kubectl addon hub upgrade, or kubectl apply -k deploy/console, with the version of addon-manager"}, console},
		{result{
			note, "addon-agent, as OCM deploys it,",
			"helm upgrade, kubectl addon hub upgrade, or kubectl apply -k deploy/agent-addon, with the version of addon-manager",
		}, components.VersionOf(agent)},
		{result{note, "this plugin", "docs/kubectl-addon.md#install"}, h.plugin},
	} {
		if part.version != "" && part.version != manager {
			part.message = fmt.Sprintf("The version of %s is %s, and that of addon-manager %s", part.message, part.version, manager)
			results = append(results, part.result)
		}
	}
	if len(results) == 0 {
		return []result{{passed, "All parts whose version is known have version " + manager, ""}}
	}
	return results
}
