package doctor

import (
	"context"
	"fmt"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/names"
)

// plain is a version without its v; empty for that of a build that was not stamped.
func plain(version string) string {
	if version == "unknown" {
		return ""
	}
	return strings.TrimPrefix(version, "v")
}

// tagOf is the tag of an image; empty where it has none.
func tagOf(image string) string {
	image, _, _ = strings.Cut(image, "@")
	_, tag, _ := strings.Cut(image[strings.LastIndex(image, "/")+1:], ":")
	return plain(tag)
}

// running is the version of a part by its image; empty where that is not known.
func (h *hub) running(ctx context.Context, deployment string) (string, error) {
	object, err := h.get(ctx, "apps", "v1", "Deployment", client.ObjectKey{Namespace: h.namespace, Name: deployment})
	if err != nil || object == nil {
		return "", err
	}
	return tagOf(imageOf(object.Object)), nil
}

// differs reports whether addon-manager is known to have another version than this plugin.
// Then what the plugin ships says nothing about what is right on the hub.
func (h *hub) differs(ctx context.Context) bool {
	manager, err := h.running(ctx, names.AddonManager)
	return err == nil && manager != "" && h.plugin != "" && manager != h.plugin
}

// sameVersions compares all parts with addon-manager.
func sameVersions(ctx context.Context, h *hub) []result {
	manager, err := h.running(ctx, names.AddonManager)
	if err != nil {
		return unread("The version of addon-manager", err)
	}
	if manager == "" {
		return []result{{note, "The version of addon-manager is not known: its image has no tag", "docs/install.md"}}
	}
	webhook, err := h.running(ctx, webhookName)
	if err != nil {
		return unread("The version of the webhook", err)
	}
	agent, err := h.agentVersion(ctx)
	if err != nil {
		return unread("The AddOnTemplate "+agentAddOn, err)
	}
	var found []result
	for _, part := range []struct {
		result
		version string
	}{
		{result{unwell, webhookName, "helm upgrade, or kubectl apply -k deploy/hub, with one version for both"}, webhook},
		{result{
			note, "addon-agent, as OCM deploys it,",
			"helm upgrade, or kubectl apply -k deploy/agent-addon, with the version of addon-manager",
		}, agent},
		{result{note, "this plugin", "docs/kubectl-addon.md#install"}, h.plugin},
	} {
		if part.version != "" && part.version != manager {
			part.found = fmt.Sprintf("The version of %s is %s, and that of addon-manager %s", part.found, part.version, manager)
			found = append(found, part.result)
		}
	}
	if len(found) == 0 {
		return []result{{well, "All parts whose version is known have version " + manager, ""}}
	}
	return found
}

// agentVersion is the version of addon-agent that OCM deploys; empty where it does not.
func (h *hub) agentVersion(ctx context.Context) (string, error) {
	template, err := h.get(ctx, addonv1alpha1.GroupVersion.Group, "v1alpha1", "AddOnTemplate", client.ObjectKey{Name: agentAddOn})
	if err != nil || template == nil {
		return "", err
	}
	for _, manifest := range sliceOf(template.Object, "spec", "agentSpec", "workload", "manifests") {
		if manifest["kind"] == "Deployment" {
			return tagOf(imageOf(manifest)), nil
		}
	}
	return "", nil
}
