package lazywatch

import (
	"context"
	"errors"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/yaml"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/input"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/hub/declarations"
	"open-cluster-management.io/interlock/pkg/hub/hubcache"
	"open-cluster-management.io/interlock/pkg/kube/trigger"
	"open-cluster-management.io/interlock/test/fixture"
	"open-cluster-management.io/interlock/test/triggertest"
)

// newAddOns returns the mapping of a hub with one cluster where all add-ons are installed:
// "versioned" needs a version of "base", "configured" and "ring" are on a conditional cycle,
// and "plain" uses no input.
func newAddOns(t *testing.T, listError error) (AddOns, func() []string) {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := fleet.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	var registrations []addonv1alpha1.ClusterManagementAddOn
	builder := fake.NewClientBuilder().WithScheme(scheme)
	for name, spec := range map[string]string{
		"base":       `{}`,
		"plain":      `dependencies: [{name: base}]`,
		"versioned":  `dependencies: [{name: base, version: ">= 1.0"}]`,
		"configured": `dependencies: [{name: ring, when: {expression: "'a' in config"}}]`,
		"ring":       `dependencies: [{name: configured}]`,
		"ocm":        `requirements: {ocm: ">= 1.3"}`,
	} {
		addOn := addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if err := yaml.UnmarshalStrict([]byte(spec), &addOn.Spec); err != nil {
			t.Fatal(err)
		}
		registrations = append(registrations, addOn)
		installation := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: "c1", Name: name}}
		installation.Status.ConfigReferences = []ocmv1alpha1.ConfigReference{{
			ConfigGroupResource: ocmv1alpha1.ConfigGroupResource{Group: ocmv1alpha1.GroupName, Resource: fleet.ResourceConfig},
			DesiredConfig: &ocmv1alpha1.ConfigSpecHash{
				ConfigReferent: ocmv1alpha1.ConfigReferent{Namespace: "c1", Name: name + "-config"}, SpecHash: "hash",
			},
		}}
		builder = builder.WithObjects(installation)
	}
	for _, index := range []string{"metadata.name", hubcache.IndexConfig, hubcache.IndexTemplate} {
		builder = builder.WithIndex(&addonv1alpha1.ManagedClusterAddOn{}, index, func(object client.Object) []string {
			switch {
			case index == hubcache.IndexConfig:
				return hubcache.ConfigKeys(object)
			case index == hubcache.IndexTemplate && object.GetName() != "base":
				return nil
			case index == hubcache.IndexTemplate:
				return []string{"template"}
			default:
				return []string{object.GetName()}
			}
		})
	}
	reader := interceptor.NewClient(builder.Build(), interceptor.Funcs{
		List: func(ctx context.Context, hub client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if listError != nil {
				return listError
			}
			return hub.List(ctx, list, options...)
		},
	})
	store := declarations.NewStore()
	store.Set(evaluation.New(catalog.New(registrations)))
	addOns := AddOns{Fleet: hubcache.NewReader(reader), Declarations: store, Evaluate: trigger.New(), Declare: trigger.New()}
	return addOns, triggertest.Enqueued(t, addOns.Evaluate)
}

// inputs has the changes of inputs, and the add-ons that each of them enqueues.
var inputs = map[string]struct {
	enqueue func(context.Context, AddOns) error
	want    []string
}{
	"Versions": {func(ctx context.Context, a AddOns) error { return a.EnqueueUsers(ctx, input.Versions) }, []string{"c1/versioned"}},
	"OCM":      {func(ctx context.Context, a AddOns) error { return a.EnqueueUsers(ctx, input.OCM) }, []string{"c1/ocm"}},
	"Config": {func(ctx context.Context, a AddOns) error {
		return a.EnqueueConfigured(ctx, types.NamespacedName{Namespace: "c1", Name: "configured-config"})
	}, []string{"c1/configured", "c1/ring"}},
	"UnusedConfig": {func(ctx context.Context, a AddOns) error {
		return a.EnqueueConfigured(ctx, types.NamespacedName{Namespace: "c1", Name: "plain-config"})
	}, []string{}},
	"Template":       {func(ctx context.Context, a AddOns) error { return a.EnqueueTemplated(ctx, "template") }, []string{"c1/versioned"}},
	"UnusedTemplate": {func(ctx context.Context, a AddOns) error { return a.EnqueueTemplated(ctx, "other") }, []string{}},
}

func TestAChangedInputEnqueuesTheAddOnsThatUseIt(t *testing.T) {
	for name, test := range inputs {
		t.Run(name, func(t *testing.T) {
			addOns, enqueued := newAddOns(t, nil)
			if err := test.enqueue(t.Context(), addOns); err != nil {
				t.Fatal(err)
			}
			if got := enqueued(); !slices.Equal(got, test.want) {
				t.Errorf("enqueues %q, want %q", got, test.want)
			}
		})
	}
}

func TestATemplateThatDeclaresHasTheCatalogBuiltAgain(t *testing.T) {
	plain := fixture.Template("base", "plain", "")
	plain.Annotations = nil
	oldTemplate := fixture.Template("base", "was", "[]")
	cleared := plain
	cleared.Name = oldTemplate.Name
	declaring := fixture.Template("base", "now", "[]")
	for name, test := range map[string]struct {
		template addonv1alpha1.AddOnTemplate
		want     []string
	}{
		"Declares":   {declaring, []string{"/catalog"}},
		"Declared":   {cleared, []string{"/catalog"}},
		"NeverDidSo": {plain, []string{}},
	} {
		addOns, _ := newAddOns(t, nil)
		addOns.Declarations.Set(evaluation.New(catalog.New(nil, oldTemplate)))
		enqueued := triggertest.Enqueued(t, addOns.Declare)
		if err := NewWatches(nil, addOns)[input.Versions].options.Changed(t.Context(), nil, &test.template); err != nil {
			t.Fatal(err)
		}
		if got := enqueued(); !slices.Equal(got, test.want) {
			t.Errorf("%s: enqueues %q, want %q", name, got, test.want)
		}
	}
}

func TestBeforeTheFirstCatalogNothingIsEnqueued(t *testing.T) {
	for name, test := range inputs {
		addOns, enqueued := newAddOns(t, errors.New("the fleet cannot be read yet"))
		addOns.Declarations = declarations.NewStore()
		if err := test.enqueue(t.Context(), addOns); err != nil || len(enqueued()) > 0 {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func TestErrorsAreReturned(t *testing.T) {
	broken := errors.New("not synced")
	for name, test := range inputs {
		addOns, _ := newAddOns(t, broken)
		if err := test.enqueue(t.Context(), addOns); !errors.Is(err, broken) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func TestEachWatchEnqueuesTheAddOnsThatUseItsObjects(t *testing.T) {
	for set, test := range map[input.Set]struct{ synced, changed []string }{
		input.Config:   {[]string{"c1/configured", "c1/ring"}, []string{"c1/configured", "c1/ring"}},
		input.Versions: {[]string{"c1/versioned"}, []string{"c1/versioned"}},
		// The version of an add-on can be the version of OCM.
		input.OCM: {[]string{"c1/ocm", "c1/versioned"}, []string{"c1/ocm", "c1/versioned"}},
	} {
		addOns, enqueued := newAddOns(t, nil)
		watch := NewWatches(nil, addOns)[set]
		if err := watch.options.Synced(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := enqueued(); !slices.Equal(got, test.synced) {
			t.Errorf("%s were read: enqueues %q, want %q", watch.options.Resource, got, test.synced)
		}
		object := watch.options.Object
		object.SetNamespace("c1")
		object.SetName(map[input.Set]string{input.Config: "configured-config", input.Versions: "template"}[set])
		if err := watch.options.Changed(t.Context(), nil, object); err != nil {
			t.Fatal(err)
		}
		if got := enqueued(); !slices.Equal(got, test.changed) {
			t.Errorf("one of %s has changed: enqueues %q, want %q", watch.options.Resource, got, test.changed)
		}
	}
}

func TestWatchesThatAreUsedBegin(t *testing.T) {
	watches := NewWatches(nil, AddOns{})
	watches.Enable(func(set input.Set) bool { return set == input.OCM })
	for set, watch := range watches {
		enabled := false
		select {
		case <-watch.enabled:
			enabled = true
		default:
		}
		if enabled != (set == input.OCM) || watches.Ready(set) {
			t.Errorf("%s: enabled %t, ready %t", watch.options.Resource, enabled, watches.Ready(set))
		}
	}
}
