package factreport

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"open-cluster-management.io/interlock/pkg/agent/addons"
	"open-cluster-management.io/interlock/pkg/agent/agentmetrics"
	"open-cluster-management.io/interlock/pkg/agent/leases"
	"open-cluster-management.io/interlock/pkg/agent/objectcount"
	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/availability"
	"open-cluster-management.io/interlock/pkg/fleet/factsobject"
	"open-cluster-management.io/interlock/pkg/kube/apidiscovery"
	"open-cluster-management.io/interlock/pkg/kube/backoff"
)

// bench is a reconciler of cluster1 with values in place of its dependencies.
type bench struct {
	*Reconciler
	clock    *clocktesting.FakeClock
	facts    *dependencyv1alpha1.ManagedClusterFacts
	groups   map[string]apidiscovery.Group
	watched  map[string]apidiscovery.Fields
	versions map[string]leases.Version
	leases   []leases.Reference
	counted  []objectcount.Resource
	counts   map[objectcount.Resource]objectcount.Count
	writes   int
	response error // of the hub to the next write
}

func (b *bench) Watch(groups map[string]apidiscovery.Fields) { b.watched = groups }
func (b *bench) Group(name string) apidiscovery.Group        { return b.groups[name] }
func (b *bench) WatchVersions(references []leases.Reference) { b.leases = references }
func (b *bench) CountOnly(resources []objectcount.Resource)  { b.counted = resources }
func (b *bench) Count(resource objectcount.Resource) (objectcount.Count, bool) {
	count, ok := b.counts[resource]
	return count, ok
}
func (b *bench) Version(r leases.Reference) leases.Version { return b.versions[r.Name] }

// cached is the cache of the bench's facts.
type cached struct {
	cache.Cache
	*bench
}

func (c cached) Get(_ context.Context, key client.ObjectKey, target client.Object, _ ...client.GetOption) error {
	facts, ok := target.(*dependencyv1alpha1.ManagedClusterFacts)
	if !ok || c.facts == nil || key != factsobject.Key("cluster1") {
		return apierrors.NewNotFound(dependencyv1alpha1.Resource.GroupResource(), key.Name)
	}
	*facts = *c.facts
	return nil
}

func newBench(t *testing.T, installed ...client.Object) *bench {
	t.Helper()
	scheme, err := addons.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{
		clock:  clocktesting.NewFakeClock(time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)),
		groups: map[string]apidiscovery.Group{}, versions: map[string]leases.Version{},
	}
	hub := interceptor.NewClient(fake.NewClientBuilder().WithScheme(scheme).WithObjects(installed...).Build(), interceptor.Funcs{
		SubResourceApply: func(context.Context, client.Client, string, runtime.ApplyConfiguration, ...client.SubResourceApplyOption) error {
			b.writes++
			return b.response
		},
	})
	b.Reconciler = &Reconciler{
		Clock: b.clock, Cluster: "cluster1", Facts: cached{bench: b}, AddOns: hub, APIs: b, Leases: b, Objects: b, Status: hub,
		Backoff: backoff.New(b.clock), Metrics: agentmetrics.New(prometheus.NewRegistry()),
	}
	return b
}

func (b *bench) request(spec dependencyv1alpha1.ManagedClusterFactsSpec) {
	b.facts = &dependencyv1alpha1.ManagedClusterFacts{
		ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Name: "cluster1", UID: "1", Generation: 1}, Spec: spec,
	}
}

func (b *bench) reconcile(t *testing.T) reconcile.Result {
	t.Helper()
	result, err := b.Reconcile(t.Context(), reconcile.Request{})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func TestWritesOnlyWhatChanged(t *testing.T) {
	b := newBench(t)
	b.groups["a.io"] = apidiscovery.Group{Discovered: true}
	b.request(dependencyv1alpha1.ManagedClusterFactsSpec{APIs: []apiRequest{{API: thing}}})
	b.reconcile(t)
	if b.writes != 1 || b.watched["a.io"] == nil {
		t.Errorf("%d writes, watched %v", b.writes, b.watched)
	}
	b.facts.Status = status{ObservedGeneration: 1, APIsServed: "0/1", APIs: []apiFacts{{API: thing, Served: metav1.ConditionFalse}}}
	b.reconcile(t)
	if b.writes != 1 {
		t.Error("wrote what was there")
	}
}

func TestFirstReportWaitsForAllFacts(t *testing.T) {
	b := newBench(t)
	b.groups["a.io"] = apidiscovery.Group{Discovered: true}
	b.request(dependencyv1alpha1.ManagedClusterFactsSpec{APIs: []apiRequest{{API: thing}, {API: api{Group: "hangs.io", Kind: "Other"}}}})
	if result := b.reconcile(t); result.RequeueAfter != gathering || b.writes != 0 {
		t.Errorf("%+v after %d writes", result, b.writes)
	}
	b.clock.Step(gathering)
	b.reconcile(t)
	if b.writes != 1 {
		t.Errorf("%d writes: a group that hangs delays the others", b.writes)
	}
}

func TestNoWriteWhileClusterDoesNotRespond(t *testing.T) {
	b := newBench(t, &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Name: "proxy"}})
	b.request(dependencyv1alpha1.ManagedClusterFactsSpec{APIs: []apiRequest{{API: thing}}, AddOns: []addOn{proxy}})
	b.facts.Status = status{
		ObservedGeneration: 1, APIsServed: "1/1", VersionsKnown: "1/1",
		APIs:   []apiFacts{{API: thing, Served: metav1.ConditionTrue, Versions: []string{"v1"}}},
		AddOns: []addOnInfo{{AddOn: proxy, Version: "1.0.0"}},
	}
	b.reconcile(t)
	b.clock.Step(time.Hour)
	b.reconcile(t)
	if b.writes != 0 {
		t.Errorf("%d writes", b.writes)
	}
}

func TestCorrectionsOfAnotherWriterBackOff(t *testing.T) {
	b := newBench(t)
	b.groups["a.io"] = apidiscovery.Group{Discovered: true}
	b.request(dependencyv1alpha1.ManagedClusterFactsSpec{APIs: []apiRequest{{API: thing}}})
	for range 3 { // another writer replaces the status each time
		b.clock.Step(time.Minute)
		b.reconcile(t)
	}
	if b.writes != 3 {
		t.Fatalf("%d writes in three minutes", b.writes)
	}
	for range 100 {
		b.reconcile(t)
	}
	if b.writes > 4 {
		t.Errorf("%d writes at once", b.writes-3)
	}
}

func TestUnrequestedFactsAreNotWatched(t *testing.T) {
	b := newBench(t, &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Name: "proxy"}})
	b.versions["proxy"] = leases.Version{State: availability.LeaseFound, Reported: "1.0.0"}
	b.request(dependencyv1alpha1.ManagedClusterFactsSpec{APIs: []apiRequest{{API: thing}}, AddOns: []addOn{proxy}})
	b.reconcile(t)
	if len(b.leases) != 1 || b.leases[0].Name != "proxy" {
		t.Errorf("watches the leases %v", b.leases)
	}
	b.facts = nil
	b.reconcile(t)
	if len(b.watched) > 0 || len(b.leases) > 0 {
		t.Errorf("watches the groups %v and the leases %v", b.watched, b.leases)
	}
}

func TestObserveReadsRequestedFacts(t *testing.T) {
	b := newBench(t)
	b.AgentAddOn = "interlock-agent"
	b.groups = map[string]apidiscovery.Group{"a.io": served, "other.io": {Discovered: true}}
	b.counts = map[objectcount.Resource]objectcount.Count{thingsAt: {Number: 3}}
	b.versions["proxy"] = leases.Version{State: availability.LeaseFound, Reported: "1.0.0"}
	got := b.observe(dependencyv1alpha1.ManagedClusterFactsSpec{
		APIs: []apiRequest{{API: thing}}, AddOns: []addOn{proxy, {Name: "missing"}},
		Objects: []objectKind{things, {Group: "a.io", Kind: "Other"}},
	}, []leases.Reference{{Name: "proxy"}})
	want := observation{
		agentAddOn: "interlock-agent",
		groups:     map[string]apidiscovery.Group{"a.io": served},
		versions:   map[string]leases.Version{"proxy": b.versions["proxy"]},
		counts:     map[objectKind]objectcount.Count{things: {Number: 3}},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(observation{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestFailedWrites(t *testing.T) {
	notFound := apierrors.NewNotFound(dependencyv1alpha1.Resource.GroupResource(), "cluster1")
	replaced := apierrors.NewConflict(dependencyv1alpha1.Resource.GroupResource(), "cluster1", errors.New("uid"))
	for _, test := range []struct {
		name     string
		response error
		fails    bool
		result   string
	}{
		{name: "the object was deleted", response: notFound, result: "conflict"},
		{name: "it is another object", response: replaced, result: "conflict"},
		{name: "the hub fails", response: apierrors.NewInternalError(errors.New("no")), fails: true, result: "error"},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(t)
			registry := prometheus.NewRegistry()
			b.Metrics = agentmetrics.New(registry)
			b.groups["a.io"] = apidiscovery.Group{Discovered: true}
			b.response = test.response
			b.request(dependencyv1alpha1.ManagedClusterFactsSpec{APIs: []apiRequest{{API: thing}}})
			if _, err := b.Reconcile(t.Context(), reconcile.Request{}); (err != nil) != test.fails {
				t.Errorf("error %v", err)
			}
			if n, err := testutil.GatherAndCount(registry, agentmetrics.NameFactsWrites); err != nil || n != 1 {
				t.Errorf("%d series, %v", n, err)
			}
			b.response = nil
			b.reconcile(t)
			if b.writes != 2 {
				t.Errorf("%d writes: there is no retry", b.writes)
			}
		})
	}
}

// TestAgentReportsItsAddOn tests the field AgentAddOn. An agent that runs as an add-on reports
// its own add-on. Any other agent removes the report of a former agent.
func TestAgentReportsItsAddOn(t *testing.T) {
	for _, name := range []string{"interlock-agent", ""} {
		b := newBench(t)
		b.AgentAddOn = name
		b.facts = &dependencyv1alpha1.ManagedClusterFacts{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Name: "cluster1", Generation: 1}}
		b.facts.Status = status{ObservedGeneration: 1, AgentAddOn: "another"}
		if _, err := b.Reconcile(t.Context(), reconcile.Request{}); err != nil || b.writes != 1 {
			t.Errorf("%q: %d writes, error %v", name, b.writes, err)
		}
		b.facts.Status.AgentAddOn = name
		if _, err := b.Reconcile(t.Context(), reconcile.Request{}); err != nil || b.writes != 1 {
			t.Errorf("%q: %d writes, error %v; want no more", name, b.writes, err)
		}
		written, err := factsobject.Configuration(b.key(), b.facts.UID, "status", &status{AgentAddOn: name}, emptyStatus(b.facts))
		if got, set, _ := unstructured.NestedString(written.Object, "status", "agentAddOn"); err != nil || !set || got != name {
			t.Errorf("writes %q, set %t; want %q", got, set, name)
		}
	}
}
