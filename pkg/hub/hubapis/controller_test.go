package hubapis

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/hub/declarations"
	"open-cluster-management.io/interlock/pkg/hub/hubcache"
	"open-cluster-management.io/interlock/pkg/kube/apidiscovery"
	"open-cluster-management.io/interlock/pkg/kube/trigger"
	"open-cluster-management.io/interlock/test/fixture"
	"open-cluster-management.io/interlock/test/triggertest"
)

// bench is a reconciler on a hub with the add-ons on two clusters.
type bench struct {
	*Reconciler
	watched   map[string]apidiscovery.Fields
	groups    map[string]apidiscovery.Group
	evaluated func() []string
	failure   error // of the next list
}

func (b *bench) Watch(groups map[string]apidiscovery.Fields) { b.watched = groups }
func (b *bench) Group(name string) apidiscovery.Group        { return b.groups[name] }
func (b *bench) declare(registrations ...addonv1alpha1.ClusterManagementAddOn) {
	b.Declarations.Set(evaluation.New(catalog.New(registrations)))
}

func newBench(t *testing.T, addOns ...string) *bench {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := fleet.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	builder := fake.NewClientBuilder().WithScheme(scheme).
		WithIndex(&addonv1alpha1.ManagedClusterAddOn{}, hubcache.IndexName, func(object client.Object) []string {
			return []string{object.GetName()}
		})
	for _, name := range addOns {
		for _, cluster := range []string{"c1", "c2"} {
			builder.WithObjects(&addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: name}})
		}
	}
	b := &bench{groups: map[string]apidiscovery.Group{}}
	hub := interceptor.NewClient(builder.Build(), interceptor.Funcs{
		List: func(ctx context.Context, hub client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if b.failure != nil {
				return b.failure
			}
			return hub.List(ctx, list, options...)
		},
	})
	b.Reconciler = &Reconciler{
		Fleet: hubcache.NewReader(hub), Declarations: declarations.NewStore(), APIs: b, Served: &Served{}, Evaluate: trigger.New(),
	}
	b.evaluated = triggertest.Enqueued(t, b.Evaluate)
	return b
}

func (b *bench) reconcile(t *testing.T) error {
	t.Helper()
	_, err := b.Reconcile(t.Context(), reconcile.Request{NamespacedName: Key})
	return err
}

// expect reconciles, and compares the enqueued keys.
func (b *bench) expect(t *testing.T, step string, want ...string) {
	t.Helper()
	if err := b.reconcile(t); err != nil {
		t.Fatalf("%s: %v", step, err)
	}
	got := b.evaluated()
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("%s: enqueued %q, want %q", step, got, want)
	}
}

// served compares the fact on the kind Thing.
func (b *bench) served(t *testing.T, want metav1.ConditionStatus) {
	t.Helper()
	if got := b.Served.APIFacts()[addonv1alpha1.AddonAPI{Group: "a.io", Kind: "Thing"}].Served; got != want {
		t.Errorf("it is served: %q, want %q", got, want)
	}
}

func TestAddOnsFollowTheHub(t *testing.T) {
	b := newBench(t, "x", "y", "other")
	x := fixture.Specified(t, "x", `dependencies: [{name: a, api: {group: a.io, kind: Thing, servedBy: Hub}}]`)
	y := fixture.Specified(t, "y", `dependencies: [{name: a, api: {group: a.io, kind: Other, servedBy: Hub}}]`)
	otherAddOn := fixture.Specified(t, "other", `dependencies: [{name: a, api: {group: a.io, kind: Thing}}]`)
	b.declare(otherAddOn)
	b.expect(t, "no edge needs the hub")
	if len(b.watched) > 0 || b.Served.APIFacts() == nil {
		t.Errorf("watches %v", b.watched)
	}
	b.declare(otherAddOn, x, y)
	b.expect(t, "nothing is known yet")
	if diff := cmp.Diff(map[string]apidiscovery.Fields{"a.io": {}}, b.watched); diff != "" {
		t.Errorf("watches -want, +got:\n%s", diff)
	}
	b.served(t, "")

	b.groups["a.io"] = apidiscovery.Group{Discovered: true}
	b.expect(t, "the hub serves neither", "c1/x", "c1/y", "c2/x", "c2/y")
	b.expect(t, "nothing has changed")
	b.groups["a.io"] = apidiscovery.Group{Discovered: true, Kinds: map[string][]string{"Thing": {"v1"}, "More": {"v1"}}}
	b.expect(t, "one is served", "c1/x", "c2/x")
	b.served(t, "True")

	b.failure = errors.New("away")
	b.groups["a.io"] = apidiscovery.Group{Discovered: true}
	if err := b.reconcile(t); err == nil || len(b.evaluated()) > 0 {
		t.Errorf("the error of the list is lost: %v", err)
	}
	b.failure = nil
	b.expect(t, "the cache can be read again", "c1/x", "c2/x")

	b.declare(otherAddOn)
	b.expect(t, "the edges were removed")
	if len(b.watched) > 0 || len(b.Served.APIFacts()) > 0 {
		t.Errorf("watches %v, knows %v", b.watched, b.Served.APIFacts())
	}
}

// A fact that is unknown at the moment keeps its last value.
func TestWhatIsNotKnownAtTheMoment(t *testing.T) {
	b := newBench(t, "x")
	b.declare(fixture.Specified(t, "x", `dependencies: [{name: a, api: {group: a.io, kind: Thing, servedBy: Hub}}]`))
	b.groups["a.io"] = apidiscovery.Group{Discovered: true, Kinds: map[string][]string{"Thing": {"v1"}}}
	b.expect(t, "it is served", "c1/x", "c2/x")
	b.groups["a.io"] = apidiscovery.Group{}
	b.expect(t, "the watch begins anew")
	b.served(t, "True")

	b.declare(fixture.Specified(t, "x", `dependencies: [{name: a, api: {group: a.io, kind: Thing, servedBy: Hub, fields: [spec.a]}}]`))
	b.groups["a.io"] = apidiscovery.Group{Discovered: true, Kinds: map[string][]string{"Thing": {"v1"}}}
	b.expect(t, "a field is not looked up yet")
	b.served(t, "True")
	b.groups["a.io"] = apidiscovery.Group{Discovered: true, Forbidden: "addon-manager may not list and watch customresourcedefinitions"}
	b.expect(t, "a right was taken away", "c1/x", "c2/x")
	b.served(t, "Unknown")
}

func TestReconcileWaitsForTheCatalog(t *testing.T) {
	b := newBench(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.Reconcile(ctx, reconcile.Request{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
