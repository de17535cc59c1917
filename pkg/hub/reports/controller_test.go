package reports

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/condition/gate"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/hub/declarations"
	"open-cluster-management.io/interlock/pkg/hub/hubapis"
	"open-cluster-management.io/interlock/pkg/hub/hubcache"
	"open-cluster-management.io/interlock/pkg/report"
	"open-cluster-management.io/interlock/test/fixture"
	"open-cluster-management.io/interlock/test/triggertest"
)

// cached has the objects of a cache, without reported facts.
type cached struct{ hubcache.Reader }

func (cached) Facts(context.Context, *catalog.Catalog, string) (evaluation.Facts, error) {
	return evaluation.Facts{}, nil
}

// bench is a reconciler on a fake hub. Its cluster1 has the add-on a, which requires b.
type bench struct {
	*Reconciler
	hub client.Client
	// requests has the requests for reports since the last reconcile. refusal is the response to
	// the next write.
	requests []string
	refusal  error
}

func newBench(t *testing.T) *bench {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := fleet.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	b := &bench{}
	sent := func(verb string) error {
		b.requests = append(b.requests, verb)
		refusal := b.refusal
		b.refusal = nil
		return refusal
	}
	b.hub = fake.NewClientBuilder().WithScheme(scheme).WithObjects(
		&clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "cluster1"}},
		&addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Name: "a"}},
	).WithInterceptorFuncs(interceptor.Funcs{
		Get: func(ctx context.Context, hub client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			if isReport(object) {
				if err := sent("get"); err != nil {
					return err
				}
			}
			return hub.Get(ctx, key, object, options...)
		},
		Apply: func(ctx context.Context, hub client.WithWatch, object runtime.ApplyConfiguration, options ...client.ApplyOption) error {
			if err := sent("apply"); err != nil {
				return err
			}
			return hub.Apply(ctx, object, options...)
		},
		Delete: func(ctx context.Context, hub client.WithWatch, object client.Object, options ...client.DeleteOption) error {
			if isReport(object) {
				if err := sent("delete"); err != nil {
					return err
				}
			}
			return hub.Delete(ctx, object, options...)
		},
	}).Build()
	store := declarations.NewStore()
	store.Set(evaluation.New(catalog.New(fixture.Registrations("a: b, b"))))
	reader := hubcache.NewReader(b.hub)
	inputs := hubcache.Inputs{
		Reader: reader, Reported: cached{}, Served: &hubapis.Served{}, Watches: fixture.Watches(false),
		Installations: hubcache.NewInstallations(false), Settings: hubcache.NewSettings(false),
	}
	b.Reconciler = &Reconciler{
		Clock: clocktesting.NewFakePassiveClock(fixture.Now.Time), Fleet: reader, Declarations: store,
		Loader: fleet.Loader{Reader: inputs, Offline: evaluation.OfflineHold},
		Live:   b.hub, Writer: b.hub, Scope: dependencyv1alpha1.ReportUnsatisfied, Changes: &Changes{},
	}
	return b
}

func isReport(object client.Object) bool {
	switch object.(type) {
	case *dependencyReport, *report.FleetReport:
		return true
	default:
		return false
	}
}

// reconcile returns the requests that reconciling cluster1 sends.
func (b *bench) reconcile(t *testing.T) (requests string, err error) {
	t.Helper()
	b.requests = nil
	_, err = b.Reconcile(t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Name: "cluster1"}})
	return strings.Join(b.requests, " "), err
}

// reach sets whether cluster1 is available.
func (b *bench) reach(t *testing.T, status metav1.ConditionStatus) {
	t.Helper()
	object := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "cluster1"}}
	if err := b.hub.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
		t.Fatal(err)
	}
	object.Status.Conditions = []metav1.Condition{{Type: clusterv1.ManagedClusterConditionAvailable, Status: status}}
	if err := b.hub.Update(t.Context(), object); err != nil {
		t.Fatal(err)
	}
}

func TestStoredReportIsNotWrittenAgain(t *testing.T) {
	b := newBench(t)
	lose := func(t *testing.T) { b.reach(t, metav1.ConditionUnknown) }
	for _, step := range []struct {
		name   string
		action func(*testing.T)
		want   string
	}{
		{"a report is made", nil, "apply"},
		{"nothing changes", nil, ""},
		{"the cluster is lost", lose, "get apply"},
		{"it still is", nil, "get"},
		{"it is back", func(t *testing.T) { b.reach(t, metav1.ConditionTrue) }, "apply"},
		{"an addon-manager that starts reads what is stored", func(t *testing.T) {
			b.contents.Clear()
			queue := triggertest.NewQueue(t)
			if err := b.readStored(t.Context(), queue); err != nil {
				t.Fatal(err)
			}
		}, ""},
		{"the add-on is uninstalled", func(t *testing.T) {
			addOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Name: "a"}}
			if err := b.hub.Delete(t.Context(), addOn); err != nil {
				t.Fatal(err)
			}
		}, "delete"},
		{"there is no report any more", nil, ""},
		{"a cluster without a report is lost", lose, ""},
	} {
		if step.action != nil {
			step.action(t)
		}
		if got, err := b.reconcile(t); err != nil || got != step.want {
			t.Errorf("%s: %q, %v; want %q", step.name, got, err, step.want)
		}
	}
}

func TestAFailedRequestIsRepeated(t *testing.T) {
	refused := errors.New("refused")
	b := newBench(t)
	for _, step := range []struct{ name, first, second string }{
		{"a write", "apply", "apply"}, {"a read", "get", "get apply"},
	} {
		if step.first == "get" {
			b.reach(t, metav1.ConditionUnknown)
		}
		b.refusal = refused
		got, err := b.reconcile(t)
		if !errors.Is(err, refused) || !strings.Contains(err.Error(), "AddOnDependencyReport of cluster cluster1") || got != step.first {
			t.Errorf("%s: %q, %v", step.name, got, err)
		}
		if got, err := b.reconcile(t); err != nil || got != step.second {
			t.Errorf("%s, again: %q, %v", step.name, got, err)
		}
	}
}

func TestANamespaceThatIsBeingDeletedGetsNoReport(t *testing.T) {
	terminating := apierrors.NewForbidden(corev1.Resource("addondependencyreports"), "cluster1", errors.New("namespace is being terminated"))
	terminating.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	b := newBench(t)
	b.refusal = terminating
	if got, err := b.reconcile(t); err != nil || got != "apply" {
		t.Errorf("%q, %v", got, err)
	}
}

// Changes on a cluster are gathered for a second, also those before the controller starts.
func TestChangesAreGathered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		queue, changes := triggertest.NewQueue(t), &Changes{}
		pass := func(fakeTime time.Duration) {
			<-time.After(fakeTime)
			synctest.Wait()
		}
		changes.Add("early")
		if err := changes.start(t.Context(), queue); err != nil {
			t.Fatal(err)
		}
		changes.Add("late")
		changes.Add("late")
		pass(delay - time.Millisecond)
		if got := triggertest.Drain(queue); len(got) > 0 {
			t.Errorf("%q are enqueued at once", got)
		}
		changes.Add("late")
		pass(2 * time.Millisecond)
		if got := triggertest.Drain(queue); !slices.Equal(got, []string{"/early", "/late"}) {
			t.Errorf("%q are enqueued", got)
		}
		pass(2 * delay)
		if got := triggertest.Drain(queue); len(got) > 0 {
			t.Errorf("%q are enqueued again", got)
		}
		queue.ShutDown()
	})
}

// Pending installations are reported even if no edge is unsatisfied. The report follows their condition.
func TestPendingInstallationIsReported(t *testing.T) {
	b := newBench(t)
	waits := metav1.Condition{
		Type: gate.ConditionUpgradable, Status: metav1.ConditionFalse, Reason: gate.ReasonWaiting, LastTransitionTime: fixture.Earlier,
	}
	open := waits
	open.Status = metav1.ConditionTrue
	for _, step := range []struct {
		name        string
		annotations map[string]string
		conditions  []metav1.Condition
		want        string
	}{
		{"nothing waits", nil, nil, ""},
		{"a closed gate", map[string]string{addonv1alpha1.GateAnnotation: addonv1alpha1.GateClosed}, nil, "a Installation  b"},
		{"an upgrade", nil, []metav1.Condition{waits}, "a Upgrade a-2 b"},
		{"an upgrade that goes on", nil, []metav1.Condition{open}, ""},
	} {
		addOn := &addonv1alpha1.ManagedClusterAddOn{}
		if err := b.hub.Get(t.Context(), types.NamespacedName{Namespace: "cluster1", Name: "a"}, addOn); err != nil {
			t.Fatal(err)
		}
		addOn.Annotations, addOn.Status.Conditions = step.annotations, step.conditions
		*addOn = fixture.Holds("a-2", *addOn)
		if err := b.hub.Update(t.Context(), addOn); err != nil {
			t.Fatal(err)
		}
		if _, err := b.reconcile(t); err != nil {
			t.Fatal(err)
		}
		object := &dependencyReport{}
		if err := b.hub.Get(t.Context(), reportKey("cluster1"), object); err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, wait := range object.Waiting {
			got += wait.AddOn + " " + string(wait.Kind) + " " + wait.Template
			for _, edge := range wait.Dependencies {
				got += " " + edge.Dependency
			}
		}
		if got != step.want || int(object.Summary.Waiting) != len(object.Waiting) {
			t.Errorf("%s: %q, %+v", step.name, got, object.Summary)
		}
	}
}
