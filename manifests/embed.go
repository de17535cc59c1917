// Package manifests holds the Kubernetes objects that Interlock's binaries
// and tests carry inside them.
package manifests

import "embed"

// CRDs holds crds/*.yaml: OCM's CRDs, the ClusterManagementAddOn with
// Interlock's fields, and the CRDs that are Interlock's own, such as that of
// ManagedClusterFacts. They are generated; see hack/crds.
//
//go:embed crds/*.yaml
var CRDs embed.FS

// Guard holds guard/*.yaml: the admission rule that keeps Available from
// being True while a Required dependency fails. See pkg/compat/guard.
//
//go:embed guard/*.yaml
var Guard embed.FS

// Gate holds gate/*.yaml: the admission rule that keeps OCM from installing an
// add-on while its gate is closed. See pkg/compat/gaterule.
//
//go:embed gate/*.yaml
var Gate embed.FS
