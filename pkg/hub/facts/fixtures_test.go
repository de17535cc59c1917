package facts

import (
	"context"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/fleet/factsobject"
	"open-cluster-management.io/interlock/pkg/hub/declarations"
	"open-cluster-management.io/interlock/pkg/hub/hubcache"
	"open-cluster-management.io/interlock/pkg/hub/metrics"
	"open-cluster-management.io/interlock/pkg/hub/outage"
	"open-cluster-management.io/interlock/pkg/kube/backoff"
	"open-cluster-management.io/interlock/pkg/kube/trigger"
	"open-cluster-management.io/interlock/pkg/names"
	"open-cluster-management.io/interlock/test/triggertest"
)

const cluster = "cluster1"

var (
	aTime   = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	widgets = addonv1alpha1.AddonAPI{Group: "a.io", Kind: "Widget"}
)

// bench is a reconciler on a fake hub. cluster1 has the add-ons "api", which needs the API
// Widget, "version", which needs a version of "base", and "plain", which only needs "base".
type bench struct {
	*Reconciler
	reader *Reader
	hub    client.Client
	clock  *clocktesting.FakeClock
	state  State
	object *facts
	// evaluated and requested return the enqueued keys.
	evaluated, requested func() []string
	applies              []string // the specs
	deletes              int
	answer               error // of the API server to the next write
	events               chan string
}

func (b *bench) State() State { return b.state }
func (b *bench) Get(key types.NamespacedName) *facts {
	if key != factsobject.Key(cluster) {
		return nil
	}
	return b.object
}

func (b *bench) List() []*facts {
	if b.object == nil {
		return nil
	}
	return []*facts{b.object}
}

func installedAddOn(name string) *addonv1alpha1.ManagedClusterAddOn {
	return &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: name}}
}

func registeredAddOn(name string, dependencies ...addonv1alpha1.AddonDependency) addonv1alpha1.ClusterManagementAddOn {
	addOn := addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: name}}
	addOn.Spec.Dependencies = dependencies
	return addOn
}

func newBench(t *testing.T) *bench {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := fleet.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	registrations := []addonv1alpha1.ClusterManagementAddOn{
		registeredAddOn("api", addonv1alpha1.AddonDependency{Name: "widgets", API: &dependencyAPI{AddonAPI: widgets}}),
		registeredAddOn("version", addonv1alpha1.AddonDependency{Name: "base", Version: ">= 1.0.0"}),
		registeredAddOn("plain", addonv1alpha1.AddonDependency{Name: "base"}),
		registeredAddOn("base"),
	}
	objects := []client.Object{installedAddOn("api"), installedAddOn("version"), installedAddOn("plain"), installedAddOn("base")}
	for i := range registrations {
		objects = append(objects, &registrations[i])
	}
	store := declarations.NewStore()
	store.Set(evaluation.New(catalog.New(registrations)))
	recorder := events.NewFakeRecorder(100)
	hub := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).
		WithIndex(&addonv1alpha1.ManagedClusterAddOn{}, hubcache.IndexHosting, hubcache.HostingClusters).
		WithIndex(&addonv1alpha1.ManagedClusterAddOn{}, "metadata.name", func(object client.Object) []string {
			return []string{object.GetName()}
		}).Build()
	b := &bench{hub: hub, clock: clocktesting.NewFakeClock(aTime), state: Served, events: recorder.Events}
	reader := hubcache.NewReader(hub)
	b.Reconciler = &Reconciler{
		Fleet: reader, Declarations: store, Informer: b, Backoff: backoff.New(b.clock),
		Metrics: metrics.New(prometheus.NewRegistry()), Recorder: recorder,
		Writer: interceptor.NewClient(hub, interceptor.Funcs{
			Apply: func(_ context.Context, _ client.WithWatch, object runtime.ApplyConfiguration, _ ...client.ApplyOption) error {
				b.applies = append(b.applies, specText(t, object))
				return b.answer
			},
			Delete: func(context.Context, client.WithWatch, client.Object, ...client.DeleteOption) error {
				b.deletes++
				return b.answer
			},
		}),
		Request: trigger.New(), Evaluate: trigger.New(),
		Reader: &Reader{Fleet: reader, Informer: b, Memory: NewMemory(b.clock, outage.New(b.clock))},
	}
	b.reader = b.Reader
	b.evaluated, b.requested = triggertest.Enqueued(t, b.Evaluate), triggertest.Enqueued(t, b.Request)
	return b
}

// facts returns the facts of the cluster that evaluation uses.
func (b *bench) facts(t *testing.T) evaluation.Facts {
	t.Helper()
	facts, err := b.reader.Facts(t.Context(), b.Declarations.Current().Catalog, cluster)
	if err != nil {
		t.Fatal(err)
	}
	return facts
}

// reports stores the ManagedClusterFacts with the request that the add-ons of the bench need.
func (b *bench) reports(status dependencyv1alpha1.ManagedClusterFactsStatus) {
	evaluator := b.Declarations.Current()
	now := metav1.NewTime(aTime)
	b.object = &facts{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: cluster, Name: cluster, UID: "1", Generation: 1,
			CreationTimestamp: metav1.NewTime(aTime.Add(-time.Hour)),
			ManagedFields:     []metav1.ManagedFieldsEntry{{Manager: names.AddonManager, Time: &now}},
		},
		Spec: specOf(evaluator.Requests("api", "version", "plain", "base")), Status: status,
	}
}

func servedFact(status metav1.ConditionStatus) dependencyv1alpha1.APIFact {
	return dependencyv1alpha1.APIFact{API: dependencyv1alpha1.API(widgets), Served: status}
}

func versionFact(version string) dependencyv1alpha1.AddOnFact {
	return dependencyv1alpha1.AddOnFact{AddOn: dependencyv1alpha1.AddOn{Name: "base"}, Version: version}
}
