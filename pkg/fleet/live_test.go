package fleet

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/versions"
	"open-cluster-management.io/interlock/pkg/names"
)

var (
	crdKind      = schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}
	templateKind = addonv1alpha1.GroupVersion.WithKind("AddOnTemplate")
)

// live reads a hub with a live client. It gets single objects.
type live struct{ Objects }

var _ Reader = live{}

func newLive(hub client.Reader) live { return live{Objects{hub}} }

// TemplateVersion implements Reader.
func (l live) TemplateVersion(ctx context.Context, name string) (version string, read bool, err error) {
	template, err := l.metadata(ctx, templateKind, name)
	if err != nil || template == nil {
		return "", err == nil, err
	}
	return versions.OfTemplate(template.Annotations, template.Labels), true, nil
}

// OCMVersion implements Reader.
func (l live) OCMVersion(ctx context.Context) (version string, read bool, err error) {
	crd, err := l.metadata(ctx, crdKind, OCMVersionCRD)
	if err != nil || crd == nil {
		return "", err == nil, err
	}
	return crd.Annotations[names.OCMVersion], true, nil
}

// metadata reads the metadata of a cluster-scoped object, nil where there is none.
func (l live) metadata(ctx context.Context, kind schema.GroupVersionKind, name string) (*metav1.PartialObjectMetadata, error) {
	object := &metav1.PartialObjectMetadata{}
	object.SetGroupVersionKind(kind)
	return get(ctx, l, kind.Kind, types.NamespacedName{Name: name}, object)
}

// Facts implements Reader. It does not know whether the agent still runs.
func (l live) Facts(ctx context.Context, _ *catalog.Catalog, cluster string) (evaluation.Facts, error) {
	key := types.NamespacedName{Namespace: cluster, Name: cluster}
	object, err := get(ctx, l, "ManagedClusterFacts", key, &dependencyv1alpha1.ManagedClusterFacts{})
	if err != nil || object == nil {
		return evaluation.Facts{}, err
	}
	return FactsOf(object), nil
}
