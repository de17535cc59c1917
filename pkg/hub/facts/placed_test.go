package facts

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/hub/hubcache"
	"open-cluster-management.io/interlock/test/triggertest"
)

// elsewhere returns the add-on "hosted" of cluster2, whose agent runs on cluster1.
func elsewhere() *addonv1alpha1.ManagedClusterAddOn {
	return &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{
		Namespace: "cluster2", Name: "hosted", Annotations: map[string]string{ocmv1alpha1.HostingClusterNameAnnotationKey: cluster},
	}}
}

// declareHosted registers "hosted", which needs the API Widget on the cluster that runs its agent.
func (b *bench) declareHosted() {
	onHost := &dependencyAPI{AddonAPI: widgets, ServedBy: addonv1alpha1.APIServerHostingCluster}
	b.Declarations.Set(evaluation.New(catalog.New([]addonv1alpha1.ClusterManagementAddOn{
		registeredAddOn("hosted", addonv1alpha1.AddonDependency{Name: "widgets", API: onHost}),
	})))
}

func (b *bench) join(t *testing.T, status metav1.ConditionStatus) {
	t.Helper()
	joined := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: cluster}}
	if status != "" {
		joined.Status.Conditions = []metav1.Condition{{Type: clusterv1.ManagedClusterConditionAvailable, Status: status}}
	}
	if err := b.hub.Create(t.Context(), joined); err != nil {
		t.Fatal(err)
	}
}

func TestFactsOfHostingClustersAreRequested(t *testing.T) {
	for name, test := range map[string]struct {
		reason string
		join   func(*bench)
		want   int
	}{
		"Registered":   {"its agent can report", func(b *bench) { b.join(t, metav1.ConditionTrue) }, 1},
		"Lost":         {"its agent reports when it is back", func(b *bench) { b.join(t, metav1.ConditionUnknown) }, 1},
		"NotJoined":    {"it may have no namespace yet", func(b *bench) { b.join(t, "") }, 0},
		"Unregistered": {"the annotation names no cluster", func(*bench) {}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			if err := b.hub.Create(t.Context(), elsewhere()); err != nil {
				t.Fatal(err)
			}
			b.declareHosted()
			test.join(b)
			if _, err := b.Reconcile(t.Context(), requestFor(cluster)); err != nil || len(b.applies) != test.want {
				t.Errorf("%s: applied %v, error %v", test.reason, b.applies, err)
			}
			if got := b.facts(t); got.Requested.IsZero() == (test.want > 0) {
				t.Errorf("%s: awaited since %s", test.reason, got.Requested)
			}
		})
	}
}

func TestHostedAddOnsFollowTheFactsOfTheirHost(t *testing.T) {
	b := newBench(t)
	if err := b.hub.Create(t.Context(), elsewhere()); err != nil {
		t.Fatal(err)
	}
	b.join(t, metav1.ConditionTrue)
	b.declareHosted()
	b.object = &facts{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: cluster, UID: "1"}}
	b.object.Spec = specOf(b.Declarations.Current().Requests("hosted"))
	if _, err := b.Reconcile(t.Context(), requestFor(cluster)); err != nil {
		t.Fatal(err)
	}
	b.evaluated()
	reported := b.object.DeepCopy()
	reported.Status.APIs = append(reported.Status.APIs, servedFact(metav1.ConditionTrue))
	b.object = reported
	if _, err := b.Reconcile(t.Context(), requestFor(cluster)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"cluster2/hosted"}, b.evaluated()); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

func TestEventsOfHostedAddOnsEnqueueBothClusters(t *testing.T) {
	b := newBench(t)
	b.declareHosted()
	if err := b.hub.Create(t.Context(), elsewhere()); err != nil {
		t.Fatal(err)
	}
	handler, clusters := b.addOns(), b.clusters()
	itself := elsewhere()
	itself.Annotations = nil
	joined := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: cluster}}
	available := joined.DeepCopy()
	available.Status.Conditions = []metav1.Condition{{Type: clusterv1.ManagedClusterConditionAvailable, Status: metav1.ConditionTrue}}
	stranger := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "stranger"}}
	for name, test := range map[string]struct {
		happens func(queue)
		want    []string
	}{
		"Created": {
			func(q queue) {
				handler.Create(t.Context(), event.TypedCreateEvent[managedClusterAddOn]{Object: elsewhere()}, q)
			},
			[]string{"/cluster1", "/cluster2"},
		},
		"Deleted": {
			func(q queue) {
				handler.Delete(t.Context(), event.TypedDeleteEvent[managedClusterAddOn]{Object: elsewhere()}, q)
			},
			[]string{"/cluster1", "/cluster2"},
		},
		"Moved": {func(q queue) {
			handler.Update(t.Context(), event.TypedUpdateEvent[managedClusterAddOn]{ObjectOld: elsewhere(), ObjectNew: itself}, q)
		}, []string{"/cluster1", "/cluster2"}},
		"Unchanged": {func(q queue) {
			handler.Update(t.Context(), event.TypedUpdateEvent[managedClusterAddOn]{ObjectOld: elsewhere(), ObjectNew: elsewhere()}, q)
		}, []string{}},
		"HostAppears": {func(q queue) {
			clusters.Create(t.Context(), event.TypedCreateEvent[*clusterv1.ManagedCluster]{Object: joined}, q)
		}, []string{"/cluster1"}},
		"HostJoins": {func(q queue) {
			clusters.Update(t.Context(), event.TypedUpdateEvent[*clusterv1.ManagedCluster]{ObjectOld: joined, ObjectNew: available}, q)
		}, []string{"/cluster1"}},
		"HostReports": {func(q queue) {
			clusters.Update(t.Context(), event.TypedUpdateEvent[*clusterv1.ManagedCluster]{ObjectOld: available, ObjectNew: available}, q)
		}, []string{}},
		"HostsNothing": {func(q queue) {
			clusters.Create(t.Context(), event.TypedCreateEvent[*clusterv1.ManagedCluster]{Object: stranger}, q)
		}, []string{}},
	} {
		q := triggertest.NewQueue(t)
		test.happens(q)
		if got := triggertest.Drain(q); !slices.Equal(got, test.want) {
			t.Errorf("%s: enqueued %q, want %q", name, got, test.want)
		}
	}
}

func TestHosts(t *testing.T) {
	b := newBench(t)
	if err := b.hub.Create(t.Context(), elsewhere()); err != nil {
		t.Fatal(err)
	}
	hosts, err := hubcache.NewReader(b.hub).Hosts(t.Context(), "hosted")
	if err != nil || !slices.Equal(hosts, []string{cluster}) {
		t.Errorf("got %q, error %v", hosts, err)
	}
	hosts, err = hubcache.NewReader(b.hub).Hosts(t.Context(), "api")
	if err != nil || len(hosts) > 0 {
		t.Errorf("got %q, error %v", hosts, err)
	}
}
