// Package deploy holds, of what is installed, that which binaries carry inside
// them too.
package deploy

import _ "embed"

// AgentManagedClusterRole is what addon-agent may do on the managed cluster,
// and on the cluster that hosts add-ons: the YAML of a ClusterRole.
//
//go:embed agent/managed-clusterrole.yaml
var AgentManagedClusterRole []byte
