// Package upstream tests the patches in upstream/, which add the add-on dependency proposal to OCM's own modules. It
// is a separate Go module that builds OCM's patched source in a temporary folder.
package upstream

// The packages that the patches change. They are imported here, so that go.sum has the dependencies
// of the packages and of their tests.
import (
	_ "open-cluster-management.io/api/addon/v1alpha1"
	_ "open-cluster-management.io/api/addon/v1beta1"
	_ "open-cluster-management.io/ocm/pkg/addon"
	_ "open-cluster-management.io/ocm/pkg/addon/index"
	_ "open-cluster-management.io/ocm/pkg/addon/webhook/v1beta1"
	_ "open-cluster-management.io/ocm/pkg/registration/spoke/addon"
)
