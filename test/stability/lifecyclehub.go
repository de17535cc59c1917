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
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/hub/declarations"
	"open-cluster-management.io/interlock/test/stability/stock"
)

// hub is a hub with some inputs, in a cache or in the API server.
type hub struct {
	client.Reader // has no other methods

	registered addonv1alpha1.ClusterManagementAddOn
	templates  []addonv1alpha1.AddOnTemplate
	cluster    clusterv1.ManagedCluster
	base       *addonv1alpha1.ManagedClusterAddOn
	// addOn is the add-on of the world.
	addOn *addonv1alpha1.ManagedClusterAddOn
	store *declarations.Store
}

func newHub(in Inputs) hub {
	h := hub{registered: in.registration(), templates: in.addOnTemplates(), store: declarations.NewStore()}
	h.store.Set(evaluation.New(catalog.New([]addonv1alpha1.ClusterManagementAddOn{
		h.registered, {ObjectMeta: metav1.ObjectMeta{Name: base}},
	}, h.templates...)))
	h.cluster.Name = "cluster1"
	h.cluster.Status.Conditions = []metav1.Condition{{Type: clusterv1.ManagedClusterConditionAvailable, Status: clusterStatus(in.Lost)}}
	if in.Available {
		h.base = &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Name: base}}
		h.base.Status.Conditions = []metav1.Condition{{
			Type: "Available", Status: metav1.ConditionTrue, Reason: "Fine", LastTransitionTime: metav1.NewTime(times[0].Add(-time.Hour)),
		}}
	}
	return h
}

// with returns the hub with the add-on as a cache keeps it.
func (h hub) with(addOn *addonv1alpha1.ManagedClusterAddOn) hub {
	h.addOn = fleet.LeanAddOn(addOn)
	return h
}

func (i Inputs) registration() addonv1alpha1.ClusterManagementAddOn {
	registered := addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: stock.AddOn}}
	registered.Spec.Ordering = i.Ordering
	dependency := addonv1alpha1.AddonDependency{Name: base}
	if i.Declared == circular {
		dependency.Name = stock.AddOn
	}
	if i.Declared == invalid {
		dependency.Version = "nonsense"
	}
	if i.Declared != empty && (i.Template == noTemplate || i.Declared != usable) {
		registered.Spec.Dependencies = []addonv1alpha1.AddonDependency{dependency}
	}
	if i.Template != noTemplate {
		registered.Spec.SupportedConfigs = []ocmv1alpha1.ConfigMeta{{ //nolint:staticcheck // v1alpha1 has no other field for it
			ConfigGroupResource: declaration.Templates, DefaultConfig: &ocmv1alpha1.ConfigReferent{Name: i.Template.String()},
		}}
	}
	if i.Bundle {
		registered.Annotations = map[string]string{addonv1alpha1.BundleAnnotation: "true"}
	}
	return registered
}

func (i Inputs) addOnTemplates() []addonv1alpha1.AddOnTemplate {
	var all []addonv1alpha1.AddOnTemplate
	for name, declares := range map[template]string{v1: "[]", v2: "[{name: " + base + "}]"} {
		if i.Template == noTemplate || i.Missing && i.Template == name {
			continue
		}
		one := addonv1alpha1.AddOnTemplate{ObjectMeta: metav1.ObjectMeta{Name: name.String(), Annotations: map[string]string{
			addonv1alpha1.TemplateDependenciesAnnotation: declares, addonv1alpha1.AddOnVersionAnnotation: name.String()[1:] + ".0.0",
		}}}
		one.Spec.AddonName = stock.AddOn
		all = append(all, one)
	}
	return all
}

// Get implements client.Reader.
func (h hub) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	switch into := into.(type) {
	case *addonv1alpha1.ManagedClusterAddOn:
		for _, one := range []*addonv1alpha1.ManagedClusterAddOn{h.addOn, h.base} {
			if one != nil && one.Name == key.Name {
				*into = *one
				return nil
			}
		}
	case *addonv1alpha1.ClusterManagementAddOn:
		if key.Name == h.registered.Name {
			*into = h.registered
			return nil
		}
	case *clusterv1.ManagedCluster:
		*into = h.cluster
		return nil
	case *addonv1alpha1.AddOnTemplate:
		for i := range h.templates {
			if h.templates[i].Name == key.Name {
				*into = h.templates[i]
				return nil
			}
		}
	}
	return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
}

// List implements client.Reader. It is called for AddOnTemplates and registrations, and callers select the names.
func (h hub) List(_ context.Context, into client.ObjectList, _ ...client.ListOption) error {
	switch into := into.(type) {
	case *addonv1alpha1.AddOnTemplateList:
		into.Items = h.templates
	case *addonv1alpha1.ClusterManagementAddOnList:
		into.Items = []addonv1alpha1.ClusterManagementAddOn{h.registered}
	}
	return nil
}

// cache reads what controllers read of a hub.
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

// Installation implements fleet.Reader.
func (cache) Installation(context.Context, types.NamespacedName) (evaluation.Wait, error) {
	return evaluation.NoWait, nil
}
