package snapshot

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/kube/apidiscovery"
)

// notInstalled reports whether a list of a kind of Interlock failed because the hub does not serve the kind. To a user without rights,
// the hub says that the list is forbidden in either case. Then the discovery documents decide, which every user may read.
func (t *taking) notInstalled(ctx context.Context, err error) bool {
	switch {
	case meta.IsNoMatchError(err), apierrors.IsNotFound(err):
		return true
	case !apierrors.IsForbidden(err):
		return false
	}
	discoverer, discovers := t.hub.(Discoverer)
	if !discovers {
		return false
	}
	api, err := discoverer.Discovery()
	return err == nil && WithoutInterlock(ctx, api)
}

// WithoutInterlock reports whether a hub does not serve any API of Interlock. It returns false if that cannot be read.
func WithoutInterlock(ctx context.Context, hub apidiscovery.API) bool {
	err := hub.REST.Get().AbsPath("/apis", dependencyv1alpha1.GroupVersion.Group).Do(ctx).Error()
	return apierrors.IsNotFound(err)
}
