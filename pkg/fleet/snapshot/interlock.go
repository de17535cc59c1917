package snapshot

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/versions"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
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

// factsWithoutAgent returns the facts of a managed cluster of a hub without Interlock. No agent reports there, so which APIs the cluster
// serves is not known, which is no failure. If an object of the hub has the version of an add-on, that version counts.
func (s *Snapshot) factsWithoutAgent(name string) evaluation.Facts {
	facts := evaluation.Facts{Requested: s.Taken, Versions: map[string]evaluation.VersionFact{}}
	for _, addOn := range s.Installed(name) {
		if s.hasVersion(addOn) {
			facts.Versions[addOn.Name] = evaluation.VersionFact{}
		}
	}
	return facts
}

// hasVersion reports whether an add-on, its AddOnTemplate or its registration has a version.
func (s *Snapshot) hasVersion(addOn *addonv1alpha1.ManagedClusterAddOn) bool {
	return versions.In(addOn.Annotations) != (versions.Annotated{}) || s.Declared.Version(addOn.Name) != (versions.Annotated{}) ||
		s.versions[fleet.TemplatesOf(addOn).Running] != ""
}
