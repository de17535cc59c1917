package available

import (
	"context"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"open-cluster-management.io/interlock/pkg/agent/addonevents"
	"open-cluster-management.io/interlock/pkg/agent/addons"
	"open-cluster-management.io/interlock/pkg/agent/agentmetrics"
	"open-cluster-management.io/interlock/pkg/agent/leases"
	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/availability"
	"open-cluster-management.io/interlock/pkg/kube/backoff"
	"open-cluster-management.io/interlock/pkg/kube/conditionwriter"
)

const grace = 5 * time.Minute

var (
	key   = types.NamespacedName{Namespace: "cluster1", Name: "proxy"}
	start = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	group = schema.GroupResource{Group: addonv1alpha1.GroupVersion.Group, Resource: "managedclusteraddons"}
)

// fakeLeases returns the leases of a test case, and records the calls.
type fakeLeases struct {
	observed, read availability.Lease
	readError      error

	watched   []leases.Reference
	reads     int
	unwatched int
}

func (f *fakeLeases) Watch(reference leases.Reference) { f.watched = append(f.watched, reference) }

func (f *fakeLeases) Unwatch(string) { f.unwatched++ }

func (f *fakeLeases) Lease(leases.Reference) availability.Lease { return f.observed }

func (f *fakeLeases) Read(context.Context, leases.Reference) (availability.Lease, error) {
	f.reads++
	return f.read, f.readError
}

// fixture is a reconciler between a fake hub and fake leases.
type fixture struct {
	*Reconciler
	clock    *clocktesting.FakeClock
	hub      client.Client
	leases   *fakeLeases
	registry *prometheus.Registry

	applyError, getError error
	applied              []map[string]any
	emitted              []string
}

func newFixture(t *testing.T, addOns ...client.Object) *fixture {
	t.Helper()
	scheme, err := addons.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{clock: clocktesting.NewFakeClock(start), leases: &fakeLeases{}, registry: prometheus.NewRegistry()}
	hub := fake.NewClientBuilder().WithScheme(scheme).WithObjects(addOns...).WithInterceptorFuncs(interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, k client.ObjectKey, target client.Object, options ...client.GetOption) error {
			if f.getError != nil {
				return f.getError
			}
			return c.Get(ctx, k, target, options...)
		},
		SubResourceApply: func(
			_ context.Context, _ client.Client, subresource string,
			configuration runtime.ApplyConfiguration, _ ...client.SubResourceApplyOption,
		) error {
			if subresource != "status" {
				t.Errorf("applied to %q", subresource)
			}
			content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(configuration)
			if err != nil {
				t.Fatal(err)
			}
			f.applied = append(f.applied, content)
			return f.applyError
		},
		Create: func(_ context.Context, _ client.WithWatch, object client.Object, _ ...client.CreateOption) error {
			if event, ok := object.(*eventsv1.Event); ok {
				f.emitted = append(f.emitted, event.Type+" "+event.Reason)
			}
			return nil
		},
	}).Build()
	f.hub = hub
	f.Reconciler = &Reconciler{
		Clock: f.clock, AddOns: hub, Writer: conditionwriter.Writer{Status: hub, Live: hub}, Leases: f.leases, Backoff: backoff.New(f.clock),
		Metrics: agentmetrics.New(f.registry), Events: addonevents.NewRecorder(f.clock, hub, key.Namespace), GracePeriod: grace,
	}
	return f
}

func (f *fixture) reconcile(t *testing.T) (reconcile.Result, error) {
	t.Helper()
	return f.Reconcile(t.Context(), reconcile.Request{NamespacedName: key})
}

func proxy(change ...func(*addonv1alpha1.ManagedClusterAddOn)) *addonv1alpha1.ManagedClusterAddOn {
	addOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	for _, c := range change {
		c(addOn)
	}
	return addOn
}

func withCondition(kind string, status metav1.ConditionStatus, reason string) func(*addonv1alpha1.ManagedClusterAddOn) {
	return func(addOn *addonv1alpha1.ManagedClusterAddOn) {
		addOn.Status.Conditions = append(addOn.Status.Conditions, metav1.Condition{
			Type: kind, Status: status, Reason: reason, Message: "stored before", LastTransitionTime: metav1.NewTime(start.Add(-time.Hour)),
		})
	}
}

func renewed(ago time.Duration) availability.Lease {
	renewTime := start.Add(-ago)
	return availability.Lease{State: availability.LeaseFound, RenewTime: &renewTime}
}
