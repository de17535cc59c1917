package fleet

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/versions"
	"open-cluster-management.io/interlock/pkg/names"
)

// OCMVersionCRD is the CRD from which the version of OCM is read: its annotation
// names.OCMVersion. This CRD is on every hub, and Interlock never changes it.
const OCMVersionCRD = "managedclusters.cluster.open-cluster-management.io"

// Objects reads the objects of a hub: from a cache, whose objects must not be
// changed, or with a live client.
type Objects struct {
	client.Reader
	// Page limits how many objects a live client reads at once; 0: all, as from a cache, which
	// has no pages.
	Page int64
}

// AddOns lists all registered add-ons.
func (o Objects) AddOns(ctx context.Context) (all []addonv1alpha1.ClusterManagementAddOn, err error) {
	for next := ""; ; {
		var page addonv1alpha1.ClusterManagementAddOnList
		if err := o.List(ctx, &page, client.Limit(o.Page), client.Continue(next)); err != nil {
			return nil, fmt.Errorf("list registered add-ons: %w", err)
		}
		all, next = append(all, page.Items...), page.Continue
		if o.Page == 0 || next == "" {
			return all, nil
		}
	}
}

// AddOn implements Reader.
func (o Objects) AddOn(ctx context.Context, key types.NamespacedName) (*addonv1alpha1.ManagedClusterAddOn, error) {
	return get(ctx, o, "managed cluster add-on", key, &addonv1alpha1.ManagedClusterAddOn{})
}

// Cluster implements Reader.
func (o Objects) Cluster(ctx context.Context, name string) (*clusterv1.ManagedCluster, error) {
	return get(ctx, o, "managed cluster", types.NamespacedName{Name: name}, &clusterv1.ManagedCluster{})
}

// Config implements Reader. Where the AddOnDeploymentConfig does not exist,
// addon-framework gives the add-on no variables.
func (o Objects) Config(ctx context.Context, key types.NamespacedName) (variables map[string]string, read bool, err error) {
	config, err := get(ctx, o, "AddOnDeploymentConfig", key, &addonv1alpha1.AddOnDeploymentConfig{})
	if err != nil || config == nil {
		return nil, err == nil, err
	}
	return Variables(config), true, nil
}

// Variables are those that an AddOnDeploymentConfig gives to add-ons.
func Variables(config *addonv1alpha1.AddOnDeploymentConfig) map[string]string {
	variables := make(map[string]string, len(config.Spec.CustomizedVariables))
	for _, variable := range config.Spec.CustomizedVariables {
		variables[variable.Name] = variable.Value
	}
	return variables
}

// CRD is the metadata of a CRD, to be read.
func CRD() *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"}}
}

// TemplateVersion implements Reader.
func (o Objects) TemplateVersion(ctx context.Context, name string) (version string, read bool, err error) {
	template, err := get(ctx, o, "AddOnTemplate", types.NamespacedName{Name: name}, &addonv1alpha1.AddOnTemplate{})
	if err != nil || template == nil {
		return "", err == nil, err
	}
	return versions.OfTemplate(template.Annotations, template.Labels), true, nil
}

// Templates lists all AddOnTemplates.
func (o Objects) Templates(ctx context.Context) ([]addonv1alpha1.AddOnTemplate, error) {
	var all addonv1alpha1.AddOnTemplateList
	if err := o.List(ctx, &all); err != nil {
		return nil, fmt.Errorf("list AddOnTemplates: %w", err)
	}
	return all.Items, nil
}

// Selects reports whether a PlacementDecision selects a managed cluster.
func Selects(decision *clusterv1beta1.PlacementDecision, cluster string) bool {
	return slices.ContainsFunc(decision.Status.Decisions, func(one clusterv1beta1.ClusterDecision) bool { return one.ClusterName == cluster })
}

// PlacementOf is the key of the Placement that a PlacementDecision belongs to.
func PlacementOf(decision *clusterv1beta1.PlacementDecision) types.NamespacedName {
	return types.NamespacedName{Namespace: decision.Namespace, Name: decision.Labels[clusterv1beta1.PlacementLabel]}
}

// OCMVersion implements Reader.
func (o Objects) OCMVersion(ctx context.Context) (version string, read bool, err error) {
	crd, err := get(ctx, o, "CustomResourceDefinition", types.NamespacedName{Name: OCMVersionCRD}, CRD())
	if err != nil || crd == nil {
		return "", err == nil, err
	}
	return crd.Annotations[names.OCMVersion], true, nil
}

// get reads an object; nil where there is none.
func get[T client.Object](ctx context.Context, from client.Reader, kind string, key types.NamespacedName, into T) (found T, err error) {
	switch err := from.Get(ctx, key, into); {
	case apierrors.IsNotFound(err):
		return found, nil
	case err != nil:
		return found, fmt.Errorf("read %s %s: %w", kind, strings.TrimPrefix(key.String(), "/"), err)
	}
	return into, nil
}
