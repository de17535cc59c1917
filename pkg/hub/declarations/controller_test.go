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
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/event"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/hub/fleet"
	"open-cluster-management.io/interlock/pkg/hub/metrics"
)

// bench is a reconciler on a fake hub, with whom it wakes and what it tells.
type bench struct {
	*Reconciler
	hub      client.WithWatch
	registry *prometheus.Registry
	events   chan string
	woken    []string
	listing  error // what listing meets
	waking   error // what waking meets
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
		WithIndex(&addonv1alpha1.ManagedClusterAddOn{}, "metadata.name", func(object client.Object) []string {
			return []string{object.GetName()}
		}).Build()
	reader := interceptor.NewClient(b.hub, interceptor.Funcs{
		List: func(ctx context.Context, inner client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if _, installed := list.(*addonv1alpha1.ManagedClusterAddOnList); installed && b.listing != nil {
				return b.listing
			}
			return inner.List(ctx, list, options...)
		},
	})
	b.Reconciler = &Reconciler{
		Fleet: fleet.Reader{Reader: reader}, Store: NewStore(), Metrics: metrics.New(b.registry), Recorder: recorder,
		Wake: func(_ context.Context, keys []types.NamespacedName) error {
			if b.waking != nil {
				return b.waking
			}
			for _, key := range keys {
				b.woken = append(b.woken, key.String())
			}
			return nil
		},
	}
	return b
}

// reconcile returns whom it woke, in order of their names.
func (b *bench) reconcile(t *testing.T) ([]string, error) {
	t.Helper()
	b.woken = nil
	_, err := b.Reconcile(t.Context(), catalogKey)
	slices.Sort(b.woken)
	return b.woken, err
}

func (b *bench) expect(t *testing.T, want ...string) {
	t.Helper()
	if got, err := b.reconcile(t); err != nil || !slices.Equal(got, want) {
		t.Errorf("wakes %q, want %q; error %v", got, want, err)
	}
}

func (b *bench) told() []string {
	var told []string
	for len(b.events) > 0 {
		told = append(told, <-b.events)
	}
	return told
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

func TestWakesWhomAChangeConcerns(t *testing.T) {
	b := newBench(t, registered("leaf"), registered("base"),
		installed("cluster1", "leaf"), installed("cluster2", "leaf"), installed("cluster1", "base"))
	b.expect(t, "cluster1/base", "cluster1/leaf", "cluster2/leaf") // all are new
	b.expect(t)
	b.declare(t, "leaf", "base")
	b.expect(t, "cluster1/leaf", "cluster2/leaf")
	b.declare(t, "base", "leaf") // a cycle: it concerns both
	b.expect(t, "cluster1/base", "cluster1/leaf", "cluster2/leaf")
	if err := b.hub.Delete(t.Context(), registered("base")); err != nil {
		t.Fatal(err)
	}
	b.expect(t, "cluster1/base", "cluster1/leaf", "cluster2/leaf") // no cycle any more
}

func TestTheFirstCatalogWakesOnlyWhomItMust(t *testing.T) {
	b := newBench(t, registered("leaf"), registered("base"), installed("cluster1", "leaf"), installed("cluster1", "base"))
	b.WakeFirst = func(catalog *evaluation.Evaluator, addOn string) bool {
		return slices.Contains(catalog.AddOns(), addOn) && addOn == "leaf"
	}
	b.expect(t, "cluster1/leaf")
	b.declare(t, "base", "leaf")
	b.expect(t, "cluster1/base")
}

func TestAChangeIsNotLostByAnError(t *testing.T) {
	broken := errors.New("not now")
	b := newBench(t, registered("leaf"), installed("cluster1", "leaf"))
	b.expect(t, "cluster1/leaf")

	b.declare(t, "leaf", "leaf")
	for _, failure := range []*error{&b.listing, &b.waking} {
		*failure = broken
		if _, err := b.reconcile(t); !errors.Is(err, broken) {
			t.Errorf("error %v", err)
		}
		*failure = nil
		if told := b.told(); len(told) != 0 {
			t.Errorf("told before it was done: %q", told)
		}
	}
	b.expect(t, "cluster1/leaf")
	if told := b.told(); len(told) != 1 || !strings.Contains(told[0], "leaf → leaf") {
		t.Errorf("events %q", told)
	}
	b.expect(t)
	if told := b.told(); len(told) != 0 {
		t.Errorf("told again: %q", told)
	}
}

func TestManyProblemsOfAKindAreOneEvent(t *testing.T) {
	many := make([]string, 500)
	for i := range many {
		many[i] = fmt.Sprintf("no-such-add-on-%03d", i)
	}
	b := newBench(t, registered("leaf", many...))
	b.expect(t)
	told := b.told()
	if len(told) != 1 || !strings.Contains(told[0], "no-such-add-on-000") || !strings.HasSuffix(told[0], "…") {
		t.Errorf("%d events %.300q", len(told), told)
	}
	b.declare(t, "leaf", append(many, "leaf", "one-more")...)
	b.expect(t)
	if told := b.told(); len(told) != 2 || !strings.Contains(told[0]+told[1], "one-more") || strings.Contains(told[0]+told[1], "no-such") {
		t.Errorf("%d events %.300q", len(told), told)
	}
}

func TestProblemsVanishWithTheRegistration(t *testing.T) {
	b := newBench(t, registered("leaf", "leaf", "nobody"))
	b.expect(t)
	if got := testutil.CollectAndCount(b.registry, metrics.NameInvalid); got != 2 {
		t.Errorf("%d series, want 2: %q", got, b.told())
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
	if catalog, err := store.Wait(ctx); !errors.Is(err, context.Canceled) || catalog != nil {
		t.Errorf("got %v, error %v", catalog, err)
	}
	if store.Current() != nil {
		t.Error("has a catalog before the first")
	}
}
