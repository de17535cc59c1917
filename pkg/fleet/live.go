package fleet

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/versions"
)

const (
	// OCMVersionCRD is the CRD from which the version of OCM is read. OCM's operator
	// writes its version to every CRD that it installs. This one is on every hub, and
	// Interlock never changes it.
	OCMVersionCRD = "managedclusters.cluster.open-cluster-management.io"
	// OCMVersionAnnotation has the version of OCM on its CRDs.
	OCMVersionAnnotation = "operator.open-cluster-management.io/version"
)

var (
	crdKind      = schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}
	templateKind = addonv1alpha1.GroupVersion.WithKind("AddOnTemplate")
)

// Live reads a hub with a live client. It gets single objects, and lists none but
// registered add-ons.
type Live struct {
	Objects
}

var _ Reader = Live{}

// NewLive returns a reader with a live client.
func NewLive(hub client.Reader) Live { return Live{Objects{hub}} }

// TemplateVersion implements Reader.
func (l Live) TemplateVersion(ctx context.Context, name string) (version string, read bool, err error) {
	template, err := l.metadata(ctx, templateKind, name)
	if err != nil || template == nil {
		return "", err == nil, err
	}
	return versions.OfTemplate(template.Annotations, template.Labels), true, nil
}

// OCMVersion implements Reader.
func (l Live) OCMVersion(ctx context.Context) (version string, read bool, err error) {
	crd, err := l.metadata(ctx, crdKind, OCMVersionCRD)
	if err != nil || crd == nil {
		return "", err == nil, err
	}
	return crd.Annotations[OCMVersionAnnotation], true, nil
}

// metadata reads the metadata of a cluster-scoped object, nil where there is none.
func (l Live) metadata(ctx context.Context, kind schema.GroupVersionKind, name string) (*metav1.PartialObjectMetadata, error) {
	object := &metav1.PartialObjectMetadata{}
	object.SetGroupVersionKind(kind)
	switch err := l.Get(ctx, types.NamespacedName{Name: name}, object); {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read %s %s: %w", kind.Kind, name, err)
	}
	return object, nil
}

// Facts implements Reader. It does not know whether the agent still runs.
func (l Live) Facts(ctx context.Context, _ *catalog.Catalog, cluster string) (evaluation.Facts, error) {
	object := &dependencyv1alpha1.ManagedClusterFacts{}
	switch err := l.Get(ctx, types.NamespacedName{Namespace: cluster, Name: cluster}, object); {
	case apierrors.IsNotFound(err):
		return evaluation.Facts{}, nil
	case err != nil:
		return evaluation.Facts{}, fmt.Errorf("read ManagedClusterFacts of cluster %s: %w", cluster, err)
	}
	return FactsOf(object), nil
}
