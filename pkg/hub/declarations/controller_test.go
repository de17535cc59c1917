package declarations

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/condition/gate"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/input"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/hub/hubcache"
	"open-cluster-management.io/interlock/pkg/hub/metrics"
	"open-cluster-management.io/interlock/pkg/kube/trigger"
	"open-cluster-management.io/interlock/test/fixture"
	"open-cluster-management.io/interlock/test/triggertest"
)

// bench is a reconciler on a fake hub.
type bench struct {
	*Reconciler
	hub      client.WithWatch
	registry *prometheus.Registry
	events   chan string
	// evaluated and requested return the enqueued keys.
	evaluated, requested func() []string
	templates            catalog.Templates
	listError            error // of lists of ManagedClusterAddOns
}

func newBench(t *testing.T, objects ...client.Object) *bench {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := fleet.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	recorder := events.NewFakeRecorder(100)
	b := &bench{registry: prometheus.NewRegistry(), events: recorder.Events}
	b.hub = fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).
		WithIndex(&addonv1alpha1.ManagedClusterAddOn{}, hubcache.IndexHosting, hubcache.HostingClusters).
		WithIndex(&addonv1alpha1.ManagedClusterAddOn{}, "metadata.name", func(object client.Object) []string {
			return []string{object.GetName()}
		}).WithIndex(&addonv1alpha1.ManagedClusterAddOn{}, hubcache.IndexTemplate, hubcache.TemplateNames).Build()
	reader := interceptor.NewClient(b.hub, interceptor.Funcs{
		List: func(ctx context.Context, inner client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if _, ok := list.(*addonv1alpha1.ManagedClusterAddOnList); ok && b.listError != nil {
				return b.listError
			}
			return inner.List(ctx, list, options...)
		},
	})
	b.Reconciler = &Reconciler{
		Registrations: fleet.Objects{Reader: reader}, Fleet: hubcache.NewReader(reader),
		Store: NewStore(), Metrics: metrics.New(b.registry), Recorder: recorder,
		Declare:    trigger.New(),
		Templates:  func(context.Context) (catalog.Templates, error) { return b.templates, nil },
		Placements: func(context.Context) (catalog.Placements, error) { return catalog.Placements{}, nil },
		Evaluate:   trigger.New(), Request: trigger.New(), EnableWatches: func(func(input.Set) bool) {},
	}
	b.evaluated, b.requested = triggertest.Enqueued(t, b.Evaluate), triggertest.Enqueued(t, b.Request)
	return b
}

// reconcile returns the add-ons that it enqueued for evaluation.
func (b *bench) reconcile(t *testing.T) ([]string, error) {
	t.Helper()
	_, err := b.Reconcile(t.Context(), reconcile.Request{})
	return b.evaluated(), err
}

func (b *bench) expect(t *testing.T, want ...string) {
	t.Helper()
	if got, err := b.reconcile(t); err != nil || !slices.Equal(got, want) {
		t.Errorf("enqueues %q, want %q; error %v", got, want, err)
	}
}

func (b *bench) emitted() []string {
	var emitted []string
	for len(b.events) > 0 {
		emitted = append(emitted, <-b.events)
	}
	return emitted
}

func (b *bench) declare(t *testing.T, name string, dependencies ...string) {
	t.Helper()
	addOn := newRegistration(name)
	if err := b.hub.Get(t.Context(), client.ObjectKeyFromObject(addOn), addOn); err != nil {
		t.Fatal(err)
	}
	addOn.Spec.Dependencies = newRegistration(name, dependencies...).Spec.Dependencies
	if err := b.hub.Update(t.Context(), addOn); err != nil {
		t.Fatal(err)
	}
}

func newRegistration(name string, dependencies ...string) *addonv1alpha1.ClusterManagementAddOn {
	addOn := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: name}}
	for _, dependency := range dependencies {
		addOn.Spec.Dependencies = append(addOn.Spec.Dependencies, addonv1alpha1.AddonDependency{Name: dependency})
	}
	return addOn
}

func newAddOn(cluster, name string) *addonv1alpha1.ManagedClusterAddOn {
	return &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: name}}
}

func TestAChangeEnqueuesTheAddOnsThatItConcerns(t *testing.T) {
	b := newBench(t, newRegistration("leaf"), newRegistration("base"),
		newAddOn("cluster1", "leaf"), newAddOn("cluster2", "leaf"), newAddOn("cluster1", "base"))
	b.expect(t) // after the first catalog, the controllers process all their objects anyway
	b.expect(t)
	b.declare(t, "leaf", "base")
	b.expect(t, "cluster1/leaf", "cluster2/leaf")
	b.declare(t, "base", "leaf") // a cycle affects both
	b.expect(t, "cluster1/base", "cluster1/leaf", "cluster2/leaf")
	if got := b.requested(); !slices.Equal(got, []string{"/cluster1", "/cluster2"}) {
		t.Errorf("requests facts of %q", got)
	}
	if err := b.hub.Delete(t.Context(), newRegistration("base")); err != nil {
		t.Fatal(err)
	}
	b.expect(t, "cluster1/base", "cluster1/leaf", "cluster2/leaf") // no cycle any more
}

// The kinds that an add-on provides do not change verdicts, but agents count their objects.
func TestProvidedKindsAreCounted(t *testing.T) {
	b := newBench(t, newRegistration("base"), newRegistration("leaf"), newAddOn("cluster1", "base"), newAddOn("cluster2", "leaf"))
	b.expect(t)
	provide := func(provides ...addonv1alpha1.AddonAPI) {
		base := newRegistration("base")
		if err := b.hub.Get(t.Context(), client.ObjectKeyFromObject(base), base); err != nil {
			t.Fatal(err)
		}
		previous := base.DeepCopy()
		base.Spec.Provides = provides
		if !declarationChanged().Update(event.TypedUpdateEvent[registration]{ObjectOld: previous, ObjectNew: base}) {
			t.Error("what is provided does not count as declared")
		}
		if err := b.hub.Update(t.Context(), base); err != nil {
			t.Fatal(err)
		}
	}
	for _, provides := range [][]addonv1alpha1.AddonAPI{{{Group: "a.io", Kind: "Widget"}}, nil} {
		provide(provides...)
		b.expect(t)
		if got := b.requested(); !slices.Equal(got, []string{"/cluster1"}) {
			t.Errorf("provides %v: requests facts of %q", provides, got)
		}
		b.expect(t)
		if got := b.requested(); len(got) > 0 {
			t.Errorf("nothing changed: requests facts of %q", got)
		}
	}
	b.listError = errors.New("the hub is busy")
	provide(addonv1alpha1.AddonAPI{Kind: "Gadget"})
	if _, err := b.reconcile(t); !errors.Is(err, b.listError) {
		t.Errorf("ends with %v", err)
	}
}

func TestADeclarationEnablesTheWatchesThatItUses(t *testing.T) {
	b := newBench(t, newRegistration("leaf"))
	var versions, configs bool
	b.EnableWatches = func(used func(input.Set) bool) { versions, configs = used(input.Versions), used(input.Config) }
	b.expect(t)
	if versions || configs {
		t.Error("enables a watch that no declaration uses")
	}
	leaf := newRegistration("leaf", "base")
	leaf.Spec.Dependencies[0].Version = ">= 1.0"
	if err := b.hub.Delete(t.Context(), newRegistration("leaf")); err != nil {
		t.Fatal(err)
	}
	if err := b.hub.Create(t.Context(), leaf); err != nil {
		t.Fatal(err)
	}
	b.expect(t)
	if !versions || configs {
		t.Errorf("versions: %t, configs: %t", versions, configs)
	}
}

func TestAChangeIsNotLostByAnError(t *testing.T) {
	b := newBench(t, newRegistration("leaf"), newAddOn("cluster1", "leaf"))
	b.expect(t)

	b.declare(t, "leaf", "leaf")
	b.listError = errors.New("not now")
	if _, err := b.reconcile(t); !errors.Is(err, b.listError) {
		t.Errorf("error %v", err)
	}
	b.listError = nil
	if events := b.emitted(); len(events) != 0 {
		t.Errorf("events before it was done: %q", events)
	}
	b.expect(t, "cluster1/leaf")
	if events := b.emitted(); len(events) != 1 || !strings.Contains(events[0], "leaf → leaf") {
		t.Errorf("events %q", events)
	}
	b.expect(t)
	if events := b.emitted(); len(events) != 0 {
		t.Errorf("events again: %q", events)
	}
}

func TestManyProblemsOfAKindAreOneEvent(t *testing.T) {
	dependencies := make([]string, 250)
	for i := range dependencies {
		dependencies[i] = fmt.Sprintf("no-such-add-on-%03d", i)
	}
	b := newBench(t, newRegistration("leaf", dependencies...))
	b.expect(t)
	events := b.emitted()
	if len(events) != 1 || !strings.Contains(events[0], "no-such-add-on-000") || !strings.HasSuffix(events[0], "…") {
		t.Errorf("%d events %.300q", len(events), events)
	}
	b.declare(t, "leaf", append(dependencies, "leaf", "one-more")...)
	b.expect(t)
	events = b.emitted()
	if text := strings.Join(events, ""); len(events) != 2 || !strings.Contains(text, "one-more") || strings.Contains(text, "no-such") {
		t.Errorf("%d events %.300q", len(events), events)
	}
}

func TestAChangedTemplateEnqueuesTheAddOnsThatRunItOrAreAboutTo(t *testing.T) {
	runs := func(cluster, running, desired string) *addonv1alpha1.ManagedClusterAddOn {
		addOn := newAddOn(cluster, "leaf")
		config := func(name string) *ocmv1alpha1.ConfigSpecHash {
			return &ocmv1alpha1.ConfigSpecHash{ConfigReferent: ocmv1alpha1.ConfigReferent{Name: name}}
		}
		addOn.Status.ConfigReferences = fleet.LeanReferences([]ocmv1alpha1.ConfigReference{{
			ConfigGroupResource: declaration.Templates, DesiredConfig: config(desired), LastAppliedConfig: config(running),
		}})
		return addOn
	}
	leaf := fixture.Deployed(*newRegistration("leaf"))
	b := newBench(t, &leaf, newRegistration("base"), runs("cluster1", "v1", "v1"), runs("cluster2", "v1", "v2"), runs("cluster3", "v2", "v2"))
	var templatesWatched bool
	b.EnableWatches = func(used func(input.Set) bool) { templatesWatched = used(input.Versions) }
	b.templates.Unread = true
	b.expect(t)
	if !templatesWatched {
		t.Error("does not watch AddOnTemplates, which leaf uses")
	}
	setTemplates := func(items ...addonv1alpha1.AddOnTemplate) { b.templates = catalog.Templates{Items: items} }
	setTemplates()
	b.expect(t, "cluster1/leaf", "cluster2/leaf", "cluster3/leaf") // they were held
	setTemplates(fixture.Template("leaf", "v2", `[{name: base}]`))
	b.expect(t, "cluster2/leaf", "cluster3/leaf")
	b.requested()
	setTemplates(fixture.Template("leaf", "v2", `[{name: base, version: ">= 1"}]`))
	b.expect(t, "cluster2/leaf", "cluster3/leaf")
	if got := b.requested(); !slices.Equal(got, []string{"/cluster1", "/cluster2", "/cluster3"}) {
		t.Errorf("requests facts of %q", got)
	}
	b.emitted()
	setTemplates(fixture.Template("leaf", "v2", `[`))
	b.expect(t, "cluster2/leaf", "cluster3/leaf")
	if events := b.emitted(); len(events) != 1 || !strings.Contains(events[0], string(declaration.ProblemInvalid)) {
		t.Errorf("events %q", events)
	}
	if got := testutil.CollectAndCount(b.registry, metrics.NameInvalid); got != 1 {
		t.Errorf("%d series of problems, want that of leaf", got)
	}
	setTemplates()
	b.expect(t, "cluster2/leaf", "cluster3/leaf")
	if got := testutil.CollectAndCount(b.registry, metrics.NameInvalid); got != 0 {
		t.Errorf("%d series are left", got)
	}
}

// The running template declares nothing, so only the waiting template uses the version of base.
func TestAChangedVersionEnqueuesAddOnsWithATemplateThatWaitsForIt(t *testing.T) {
	waits := newAddOn("cluster1", "leaf")
	waits.Status.Conditions = []metav1.Condition{{
		Type: gate.ConditionUpgradable, Status: metav1.ConditionFalse, Reason: gate.ReasonWaiting,
	}}
	*waits = fixture.Holds("v2", *waits)
	leaf, base := fixture.Deployed(*newRegistration("leaf")), fixture.Versioned(*newRegistration("base"), "1.0.0")
	b := newBench(t, &leaf, &base, waits, newAddOn("cluster2", "leaf"))
	b.templates.Items = []addonv1alpha1.AddOnTemplate{fixture.Template("leaf", "v2", `[{name: base, version: ">= 2"}]`)}
	b.expect(t)
	base = fixture.Versioned(base, "2.0.0")
	if err := b.hub.Update(t.Context(), &base); err != nil {
		t.Fatal(err)
	}
	b.expect(t, "cluster1/leaf")
}

func TestProblemsAreDeletedWithTheRegistration(t *testing.T) {
	b := newBench(t, newRegistration("leaf", "leaf", "nobody"))
	b.expect(t)
	if got := testutil.CollectAndCount(b.registry, metrics.NameInvalid); got != 2 {
		t.Errorf("%d series, want 2: %q", got, b.emitted())
	}
	if err := b.hub.Delete(t.Context(), newRegistration("leaf")); err != nil {
		t.Fatal(err)
	}
	b.expect(t)
	if got := testutil.CollectAndCount(b.registry, metrics.NameInvalid); got != 0 {
		t.Errorf("%d series are left", got)
	}
}

func TestDeclarationChanged(t *testing.T) {
	annotated := func(value string) *addonv1alpha1.ClusterManagementAddOn {
		addOn := newRegistration("leaf")
		addOn.Annotations = map[string]string{addonv1alpha1.DependenciesAnnotation: value}
		return addOn
	}
	touched := newRegistration("leaf")
	touched.Labels, touched.Annotations = map[string]string{"a": "b"}, map[string]string{"c": "d"}
	touched.Spec.AddOnMeta.DisplayName, touched.ResourceVersion = "Leaf", "7"
	empty := newRegistration("leaf")
	empty.Spec.Dependencies = []addonv1alpha1.AddonDependency{}
	worded := newRegistration("leaf", "base")
	worded.Spec.Dependencies[0].Message = "It cannot run"

	for _, test := range []struct {
		name         string
		old, updated *addonv1alpha1.ClusterManagementAddOn
		want         bool
	}{
		{"nothing", newRegistration("leaf", "base"), newRegistration("leaf", "base"), false},
		{"what is not a declaration", newRegistration("leaf"), touched, false},
		{"another dependency", newRegistration("leaf", "base"), newRegistration("leaf", "other"), true},
		{"another order", newRegistration("leaf", "a", "b"), newRegistration("leaf", "b", "a"), true},
		{"another message", newRegistration("leaf", "base"), worded, true},
		{"an empty list, which hides the annotation", newRegistration("leaf"), empty, true},
		{"an annotation", newRegistration("leaf"), annotated("[]"), true},
		{"another annotation", annotated("[]"), annotated("[{name: base}]"), true},
		{"an empty annotation, which is a second declaration", newRegistration("leaf"), annotated(""), true},
		{"an empty annotation removed", annotated(""), newRegistration("leaf"), true},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := declarationChanged().Update(event.TypedUpdateEvent[registration]{ObjectOld: test.old, ObjectNew: test.updated})
			if got != test.want {
				t.Errorf("got %t, want %t", got, test.want)
			}
		})
	}
}

func TestStoreWaits(t *testing.T) {
	store := NewStore()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if evaluator, err := store.Wait(ctx); !errors.Is(err, context.Canceled) || evaluator != nil {
		t.Errorf("got %v, error %v", evaluator, err)
	}
	if store.Current() != nil {
		t.Error("has a catalog before the first")
	}
}
