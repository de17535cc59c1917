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
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/gate"
	"open-cluster-management.io/interlock/pkg/dependency/input"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/hub/hubcache"
	"open-cluster-management.io/interlock/pkg/hub/metrics"
	"open-cluster-management.io/interlock/pkg/trigger"
	"open-cluster-management.io/interlock/test/fixture"
	"open-cluster-management.io/interlock/test/triggertest"
)

// bench is a reconciler on a fake hub.
type bench struct {
	*Reconciler
	hub      client.WithWatch
	registry *prometheus.Registry
	events   chan string
	// evaluated and requested take what was enqueued.
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
			if _, installed := list.(*addonv1alpha1.ManagedClusterAddOnList); installed && b.listError != nil {
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
	addOn := registered(name)
	if err := b.hub.Get(t.Context(), client.ObjectKeyFromObject(addOn), addOn); err != nil {
		t.Fatal(err)
	}
	addOn.Spec.Dependencies = registered(name, dependencies...).Spec.Dependencies
	if err := b.hub.Update(t.Context(), addOn); err != nil {
		t.Fatal(err)
	}
}

func registered(name string, dependencies ...string) *addonv1alpha1.ClusterManagementAddOn {
	addOn := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: name}}
	for _, dependency := range dependencies {
		addOn.Spec.Dependencies = append(addOn.Spec.Dependencies, addonv1alpha1.AddonDependency{Name: dependency})
	}
	return addOn
}

func installed(cluster, name string) *addonv1alpha1.ManagedClusterAddOn {
	return &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: name}}
}

func TestAChangeEnqueuesTheAddOnsThatItConcerns(t *testing.T) {
	b := newBench(t, registered("leaf"), registered("base"),
		installed("cluster1", "leaf"), installed("cluster2", "leaf"), installed("cluster1", "base"))
	b.expect(t) // with the first declared, every controller begins with everything
	b.expect(t)
	b.declare(t, "leaf", "base")
	b.expect(t, "cluster1/leaf", "cluster2/leaf")
	b.declare(t, "base", "leaf") // a cycle: it concerns both
	b.expect(t, "cluster1/base", "cluster1/leaf", "cluster2/leaf")
	if got := b.requested(); !slices.Equal(got, []string{"/cluster1", "/cluster2"}) {
		t.Errorf("requests facts of %q", got)
	}
	if err := b.hub.Delete(t.Context(), registered("base")); err != nil {
		t.Fatal(err)
	}
	b.expect(t, "cluster1/base", "cluster1/leaf", "cluster2/leaf") // no cycle any more
}

// TestProvidedKindsAreCounted: which kinds an add-on provides changes no verdict, but what the agents count.
func TestProvidedKindsAreCounted(t *testing.T) {
	b := newBench(t, registered("base"), registered("leaf"), installed("cluster1", "base"), installed("cluster2", "leaf"))
	b.expect(t)
	provide := func(provides ...addonv1alpha1.AddonAPI) {
		base := registered("base")
		if err := b.hub.Get(t.Context(), client.ObjectKeyFromObject(base), base); err != nil {
			t.Fatal(err)
		}
		before := base.DeepCopy()
		base.Spec.Provides = provides
		if !declarationChanged().Update(event.TypedUpdateEvent[registration]{ObjectOld: before, ObjectNew: base}) {
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
	b := newBench(t, registered("leaf"))
	var versions, configs bool
	b.EnableWatches = func(used func(input.Set) bool) { versions, configs = used(input.Versions), used(input.Config) }
	b.expect(t)
	if versions || configs {
		t.Error("enables a watch that no declaration uses")
	}
	leaf := registered("leaf", "base")
	leaf.Spec.Dependencies[0].Version = ">= 1.0"
	if err := b.hub.Delete(t.Context(), registered("leaf")); err != nil {
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
	b := newBench(t, registered("leaf"), installed("cluster1", "leaf"))
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
	many := make([]string, 250)
	for i := range many {
		many[i] = fmt.Sprintf("no-such-add-on-%03d", i)
	}
	b := newBench(t, registered("leaf", many...))
	b.expect(t)
	events := b.emitted()
	if len(events) != 1 || !strings.Contains(events[0], "no-such-add-on-000") || !strings.HasSuffix(events[0], "…") {
		t.Errorf("%d events %.300q", len(events), events)
	}
	b.declare(t, "leaf", append(many, "leaf", "one-more")...)
	b.expect(t)
	events = b.emitted()
	if all := strings.Join(events, ""); len(events) != 2 || !strings.Contains(all, "one-more") || strings.Contains(all, "no-such") {
		t.Errorf("%d events %.300q", len(events), events)
	}
}

func TestAChangedTemplateEnqueuesTheAddOnsThatRunItOrAreAboutTo(t *testing.T) {
	runs := func(cluster, running, desired string) *addonv1alpha1.ManagedClusterAddOn {
		addOn := installed(cluster, "leaf")
		config := func(name string) *ocmv1alpha1.ConfigSpecHash {
			return &ocmv1alpha1.ConfigSpecHash{ConfigReferent: ocmv1alpha1.ConfigReferent{Name: name}}
		}
		addOn.Status.ConfigReferences = fleet.LeanReferences([]ocmv1alpha1.ConfigReference{{
			ConfigGroupResource: declaration.Templates, DesiredConfig: config(desired), LastAppliedConfig: config(running),
		}})
		return addOn
	}
	leaf := fixture.Deployed(*registered("leaf"))
	b := newBench(t, &leaf, registered("base"), runs("cluster1", "v1", "v1"), runs("cluster2", "v1", "v2"), runs("cluster3", "v2", "v2"))
	var templatesWatched bool
	b.EnableWatches = func(used func(input.Set) bool) { templatesWatched = used(input.Versions) }
	b.templates.Unread = true
	b.expect(t)
	if !templatesWatched {
		t.Error("does not watch AddOnTemplates, which leaf uses")
	}
	has := func(items ...addonv1alpha1.AddOnTemplate) { b.templates = catalog.Templates{Items: items} }
	has()
	b.expect(t, "cluster1/leaf", "cluster2/leaf", "cluster3/leaf") // they were held
	has(fixture.Template("leaf", "v2", `[{name: base}]`))
	b.expect(t, "cluster2/leaf", "cluster3/leaf")
	b.requested()
	has(fixture.Template("leaf", "v2", `[{name: base, version: ">= 1"}]`))
	b.expect(t, "cluster2/leaf", "cluster3/leaf")
	if got := b.requested(); !slices.Equal(got, []string{"/cluster1", "/cluster2", "/cluster3"}) {
		t.Errorf("requests facts of %q", got)
	}
	b.emitted()
	has(fixture.Template("leaf", "v2", `[`))
	b.expect(t, "cluster2/leaf", "cluster3/leaf")
	if events := b.emitted(); len(events) != 1 || !strings.Contains(events[0], string(declaration.ProblemInvalid)) {
		t.Errorf("events %q", events)
	}
	if got := testutil.CollectAndCount(b.registry, metrics.NameInvalid); got != 1 {
		t.Errorf("%d series of problems, want that of leaf", got)
	}
	has()
	b.expect(t, "cluster2/leaf", "cluster3/leaf")
	if got := testutil.CollectAndCount(b.registry, metrics.NameInvalid); got != 0 {
		t.Errorf("%d series are left", got)
	}
}

// What runs declares nothing, so only the template that waits uses the version of base.
func TestAChangedVersionEnqueuesAddOnsWithATemplateThatWaitsForIt(t *testing.T) {
	waits := installed("cluster1", "leaf")
	waits.Status.Conditions = []metav1.Condition{{
		Type: gate.ConditionUpgradable, Status: metav1.ConditionFalse, Reason: gate.ReasonWaiting,
	}}
	*waits = fixture.Holds("v2", *waits)
	leaf, base := fixture.Deployed(*registered("leaf")), fixture.Versioned(*registered("base"), "1.0.0")
	b := newBench(t, &leaf, &base, waits, installed("cluster2", "leaf"))
	b.templates.Items = []addonv1alpha1.AddOnTemplate{fixture.Template("leaf", "v2", `[{name: base, version: ">= 2"}]`)}
	b.expect(t)
	base = fixture.Versioned(base, "2.0.0")
	if err := b.hub.Update(t.Context(), &base); err != nil {
		t.Fatal(err)
	}
	b.expect(t, "cluster1/leaf")
}

func TestProblemsAreDeletedWithTheRegistration(t *testing.T) {
	b := newBench(t, registered("leaf", "leaf", "nobody"))
	b.expect(t)
	if got := testutil.CollectAndCount(b.registry, metrics.NameInvalid); got != 2 {
		t.Errorf("%d series, want 2: %q", got, b.emitted())
	}
	if err := b.hub.Delete(t.Context(), registered("leaf")); err != nil {
		t.Fatal(err)
	}
	b.expect(t)
	if got := testutil.CollectAndCount(b.registry, metrics.NameInvalid); got != 0 {
		t.Errorf("%d series are left", got)
	}
}

func TestDeclarationChanged(t *testing.T) {
	annotated := func(value string) *addonv1alpha1.ClusterManagementAddOn {
		addOn := registered("leaf")
		addOn.Annotations = map[string]string{addonv1alpha1.DependenciesAnnotation: value}
		return addOn
	}
	touched := registered("leaf")
	touched.Labels, touched.Annotations = map[string]string{"a": "b"}, map[string]string{"c": "d"}
	touched.Spec.AddOnMeta.DisplayName, touched.ResourceVersion = "Leaf", "7"
	empty := registered("leaf")
	empty.Spec.Dependencies = []addonv1alpha1.AddonDependency{}
	worded := registered("leaf", "base")
	worded.Spec.Dependencies[0].Message = "It cannot run"

	for _, test := range []struct {
		name          string
		before, after *addonv1alpha1.ClusterManagementAddOn
		want          bool
	}{
		{"nothing", registered("leaf", "base"), registered("leaf", "base"), false},
		{"what is not a declaration", registered("leaf"), touched, false},
		{"another dependency", registered("leaf", "base"), registered("leaf", "other"), true},
		{"another order", registered("leaf", "a", "b"), registered("leaf", "b", "a"), true},
		{"another message", registered("leaf", "base"), worded, true},
		{"an empty list, which hides the annotation", registered("leaf"), empty, true},
		{"an annotation", registered("leaf"), annotated("[]"), true},
		{"another annotation", annotated("[]"), annotated("[{name: base}]"), true},
		{"an empty annotation, which is a second declaration", registered("leaf"), annotated(""), true},
		{"an empty annotation removed", annotated(""), registered("leaf"), true},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := declarationChanged().Update(event.TypedUpdateEvent[registration]{ObjectOld: test.before, ObjectNew: test.after})
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
