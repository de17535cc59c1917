// Package upstream tests the patches in upstream/, which add the add-on dependency proposal to OCM's own modules. It is a
// Go module of its own: it builds OCM's source, patched, in a temporary folder.
package upstream

// The packages that the patches touch. Imported here, go.sum has what they and their tests need.
import (
	_ "open-cluster-management.io/api/addon/v1alpha1"
	_ "open-cluster-management.io/api/addon/v1beta1"
	_ "open-cluster-management.io/ocm/pkg/addon"
	_ "open-cluster-management.io/ocm/pkg/addon/index"
	_ "open-cluster-management.io/ocm/pkg/addon/webhook/v1beta1"
	_ "open-cluster-management.io/ocm/pkg/registration/spoke/addon"
)
