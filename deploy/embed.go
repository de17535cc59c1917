// Package deploy holds, of what is installed, that which binaries carry inside
// them too.
package deploy

import "embed"

// addon-agent as an add-on: the YAML of a ClusterManagementAddOn and an
// AddOnTemplate.
var (
	//go:embed agent-addon/clustermanagementaddon.yaml
	AgentClusterManagementAddOn []byte
	//go:embed agent-addon/addontemplate.yaml
	AgentAddOnTemplate []byte
)

// Roles are the rights of the parts on the hub, for the plugin to compare.
//
//go:embed hub/clusterrole.yaml hub/role.yaml hub/webhook-clusterrole.yaml hub/webhook-role.yaml
//go:embed hub/lifecycle-clusterrole.yaml hub/graft-clusterrole.yaml hub/guard-policy-clusterrole.yaml hub/guard-webhook-clusterrole.yaml
//go:embed console/clusterrole.yaml console/role.yaml
var Roles embed.FS

// Runbook is a ConfigMap with the pages of alerts, verdicts and reasons.
//
//go:embed alerts/runbook.yaml
var Runbook []byte

// GlobalPlacement has the Placement of all managed clusters, its Namespace and its
// ManagedClusterSetBinding. It is a copy of docs/examples/global-placement.yaml.
//
//go:embed global-placement/global-placement.yaml
var GlobalPlacement []byte
