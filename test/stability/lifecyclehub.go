package stability

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/settings"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/hub/declarations"
	"open-cluster-management.io/interlock/test/stability/stock"
)

// hub is a hub with some inputs, in a cache or in the API server.
type hub struct {
	client.Reader // has no other methods

	registration addonv1alpha1.ClusterManagementAddOn
	templates    []addonv1alpha1.AddOnTemplate
	cluster      clusterv1.ManagedCluster
	base         *addonv1alpha1.ManagedClusterAddOn
	// addOn is the add-on of the world.
	addOn *addonv1alpha1.ManagedClusterAddOn
	store *declarations.Store
}

func newHub(inputs Inputs) hub {
	h := hub{registration: inputs.registration(), templates: inputs.addOnTemplates(), store: declarations.NewStore()}
	h.store.Set(evaluation.New(catalog.New([]addonv1alpha1.ClusterManagementAddOn{
		h.registration, {ObjectMeta: metav1.ObjectMeta{Name: base}},
	}, h.templates...)))
	h.cluster.Name = "cluster1"
	h.cluster.Status.Conditions = []metav1.Condition{{Type: clusterv1.ManagedClusterConditionAvailable, Status: clusterStatus(inputs.Lost)}}
	if inputs.Available {
		h.base = &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Name: base}}
		h.base.Status.Conditions = []metav1.Condition{{
			Type: "Available", Status: metav1.ConditionTrue, Reason: "Fine", LastTransitionTime: metav1.NewTime(times[0].Add(-time.Hour)),
		}}
	}
	return h
}

// withAddOn returns the hub with the add-on in the form that a cache keeps.
func (h hub) withAddOn(addOn *addonv1alpha1.ManagedClusterAddOn) hub {
	h.addOn = fleet.LeanAddOn(addOn)
	return h
}

func (i Inputs) registration() addonv1alpha1.ClusterManagementAddOn {
	registration := addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: stock.AddOn}}
	registration.Spec.Ordering = i.Ordering
	dependency := addonv1alpha1.AddonDependency{Name: base}
	if i.Declaration == circular {
		dependency.Name = stock.AddOn
	}
	if i.Declaration == invalid {
		dependency.Version = "nonsense"
	}
	if i.Declaration != empty && (i.Template == noTemplate || i.Declaration != usable) {
		registration.Spec.Dependencies = []addonv1alpha1.AddonDependency{dependency}
	}
	if i.Template != noTemplate {
		registration.Spec.SupportedConfigs = []ocmv1alpha1.ConfigMeta{{ //nolint:staticcheck // v1alpha1 has no other field for it
			ConfigGroupResource: declaration.Templates, DefaultConfig: &ocmv1alpha1.ConfigReferent{Name: i.Template.String()},
		}}
	}
	if i.Bundle {
		registration.Annotations = map[string]string{addonv1alpha1.BundleAnnotation: "true"}
	}
	return registration
}

func (i Inputs) addOnTemplates() []addonv1alpha1.AddOnTemplate {
	var templates []addonv1alpha1.AddOnTemplate
	for name, declares := range map[template]string{v1: "[]", v2: "[{name: " + base + "}]"} {
		if i.Template == noTemplate || i.Missing && i.Template == name {
			continue
		}
		addOnTemplate := addonv1alpha1.AddOnTemplate{ObjectMeta: metav1.ObjectMeta{Name: name.String(), Annotations: map[string]string{
			addonv1alpha1.TemplateDependenciesAnnotation: declares, addonv1alpha1.AddOnVersionAnnotation: name.String()[1:] + ".0.0",
		}}}
		addOnTemplate.Spec.AddonName = stock.AddOn
		templates = append(templates, addOnTemplate)
	}
	return templates
}

// Get implements client.Reader.
func (h hub) Get(_ context.Context, key client.ObjectKey, target client.Object, _ ...client.GetOption) error {
	switch target := target.(type) {
	case *addonv1alpha1.ManagedClusterAddOn:
		for _, addOn := range []*addonv1alpha1.ManagedClusterAddOn{h.addOn, h.base} {
			if addOn != nil && addOn.Name == key.Name {
				*target = *addOn
				return nil
			}
		}
	case *addonv1alpha1.ClusterManagementAddOn:
		if key.Name == h.registration.Name {
			*target = h.registration
			return nil
		}
	case *clusterv1.ManagedCluster:
		*target = h.cluster
		return nil
	case *addonv1alpha1.AddOnTemplate:
		for i := range h.templates {
			if h.templates[i].Name == key.Name {
				*target = h.templates[i]
				return nil
			}
		}
	}
	return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
}

// List implements client.Reader. It is called for AddOnTemplates and registrations, and callers select the names.
func (h hub) List(_ context.Context, target client.ObjectList, _ ...client.ListOption) error {
	switch target := target.(type) {
	case *addonv1alpha1.AddOnTemplateList:
		target.Items = h.templates
	case *addonv1alpha1.ClusterManagementAddOnList:
		target.Items = []addonv1alpha1.ClusterManagementAddOn{h.registration}
	}
	return nil
}

// cache reads the objects of a hub that controllers read.
type cache struct{ fleet.Objects }

var _ fleet.Reader = cache{}

// Facts implements fleet.Reader.
func (cache) Facts(context.Context, *catalog.Catalog, string) (evaluation.Facts, error) {
	return evaluation.Facts{}, nil
}

// HubAPIs implements fleet.Reader.
func (cache) HubAPIs(context.Context) (evaluation.APIFacts, error) { return evaluation.APIFacts{}, nil }

// Selected implements fleet.Reader.
func (cache) Selected(context.Context, []types.NamespacedName, string) (selected, read bool, err error) {
	return false, false, nil
}

// Setting implements fleet.Reader.
func (cache) Setting(context.Context, types.NamespacedName) (settings.Outcome, error) {
	return settings.Outcome{}, nil
}

// Installation implements fleet.Reader.
func (cache) Installation(context.Context, types.NamespacedName) (evaluation.Wait, error) {
	return evaluation.NoWait, nil
}
