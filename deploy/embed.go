// Package deploy holds, of what is installed, that which binaries carry inside
// them too.
package deploy

import _ "embed"

// addon-agent as an add-on: the YAML of a ClusterManagementAddOn and an
// AddOnTemplate.
var (
	//go:embed agent-addon/clustermanagementaddon.yaml
	AgentClusterManagementAddOn []byte
	//go:embed agent-addon/addontemplate.yaml
	AgentAddOnTemplate []byte
)
