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
	"open-cluster-management.io/interlock/pkg/dependency/declaration/versions"
	"open-cluster-management.io/interlock/pkg/names"
)

// OCMVersionCRD is the CRD whose annotation names.OCMVersion has the version of OCM.
// This CRD is on every hub, and Interlock never changes it.
const OCMVersionCRD = "managedclusters.cluster.open-cluster-management.io"

// Objects reads the objects of a hub, from a cache or with a live client. Callers must not
// change objects from a cache.
type Objects struct {
	client.Reader
	// Page is the page size of lists. It is 0 for a cache, which has no pages.
	Page int64
}

// AddOns lists all registered add-ons.
func (o Objects) AddOns(ctx context.Context) ([]addonv1alpha1.ClusterManagementAddOn, error) {
	var addOns []addonv1alpha1.ClusterManagementAddOn
	for next := ""; ; {
		var page addonv1alpha1.ClusterManagementAddOnList
		if err := o.List(ctx, &page, client.Limit(o.Page), client.Continue(next)); err != nil {
			return nil, fmt.Errorf("list registered add-ons: %w", err)
		}
		addOns, next = append(addOns, page.Items...), page.Continue
		if o.Page == 0 || next == "" {
			return addOns, nil
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

// Config implements Reader. If the AddOnDeploymentConfig does not exist,
// addon-framework passes no variables to the add-on.
func (o Objects) Config(ctx context.Context, key types.NamespacedName) (map[string]string, bool, error) {
	config, err := get(ctx, o, "AddOnDeploymentConfig", key, &addonv1alpha1.AddOnDeploymentConfig{})
	if err != nil || config == nil {
		return nil, err == nil, err
	}
	return Variables(config), true, nil
}

// Variables returns the values of the variables that an AddOnDeploymentConfig sets, by name.
func Variables(config *addonv1alpha1.AddOnDeploymentConfig) map[string]string {
	variables := make(map[string]string, len(config.Spec.CustomizedVariables))
	for _, variable := range config.Spec.CustomizedVariables {
		variables[variable.Name] = variable.Value
	}
	return variables
}

// CRD returns an empty object to read the metadata of a CRD into.
func CRD() *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"}}
}

// Namespace returns an empty object to read the metadata of a namespace into.
func Namespace() *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}}
}

// TemplateVersion implements Reader.
func (o Objects) TemplateVersion(ctx context.Context, name string) (string, bool, error) {
	template, err := get(ctx, o, "AddOnTemplate", types.NamespacedName{Name: name}, &addonv1alpha1.AddOnTemplate{})
	if err != nil || template == nil {
		return "", err == nil, err
	}
	return versions.OfTemplate(template.Annotations, template.Labels), true, nil
}

// Templates lists all AddOnTemplates.
func (o Objects) Templates(ctx context.Context) ([]addonv1alpha1.AddOnTemplate, error) {
	var templates addonv1alpha1.AddOnTemplateList
	if err := o.List(ctx, &templates); err != nil {
		return nil, fmt.Errorf("list AddOnTemplates: %w", err)
	}
	return templates.Items, nil
}

// Selects reports whether a PlacementDecision selects a managed cluster.
func Selects(decision *clusterv1beta1.PlacementDecision, cluster string) bool {
	return slices.ContainsFunc(decision.Status.Decisions, func(d clusterv1beta1.ClusterDecision) bool { return d.ClusterName == cluster })
}

// PlacementOf returns the key of the Placement that a PlacementDecision belongs to.
func PlacementOf(decision *clusterv1beta1.PlacementDecision) types.NamespacedName {
	return types.NamespacedName{Namespace: decision.Namespace, Name: decision.Labels[clusterv1beta1.PlacementLabel]}
}

// OCMVersion implements Reader.
func (o Objects) OCMVersion(ctx context.Context) (string, bool, error) {
	crd, err := get(ctx, o, "CustomResourceDefinition", types.NamespacedName{Name: OCMVersionCRD}, CRD())
	if err != nil || crd == nil {
		return "", err == nil, err
	}
	return crd.Annotations[names.OCMVersion], true, nil
}

// get reads an object into target. It returns nil if there is none.
func get[T client.Object](ctx context.Context, reader client.Reader, kind string, key types.NamespacedName, target T) (T, error) {
	var missing T
	switch err := reader.Get(ctx, key, target); {
	case apierrors.IsNotFound(err):
		return missing, nil
	case err != nil:
		return missing, fmt.Errorf("read %s %s: %w", kind, strings.TrimPrefix(key.String(), "/"), err)
	}
	return target, nil
}
