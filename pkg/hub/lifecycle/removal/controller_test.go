package removal

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	toolsevents "k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/condition/outcome"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/plan/teardown"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/hub/assess"
	"open-cluster-management.io/interlock/pkg/hub/declarations"
	"open-cluster-management.io/interlock/pkg/hub/hubcache"
	"open-cluster-management.io/interlock/test/fixture"
)

const theirs = "example.com/theirs"

var base = types.NamespacedName{Namespace: "cluster1", Name: "base"}

// bench is a reconciler on a fake hub, where base and leaf, which is ordered after it, are being deleted.
type bench struct {
	*Reconciler
	hub    client.WithWatch
	clock  *clocktesting.FakePassiveClock
	events *toolsevents.FakeRecorder
	// refuse is called with the verb and kind of each request.
	refuse func(request string) error
}

func deleted(name string, finalizers ...string) *addonv1alpha1.ManagedClusterAddOn {
	now := metav1.NewTime(fixture.Now.Time)
	return &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{
		Namespace: "cluster1", Name: name, Finalizers: finalizers, DeletionTimestamp: &now,
	}}
}

func joined(status metav1.ConditionStatus) *clusterv1.ManagedCluster {
	cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "cluster1"}}
	cluster.Status.Conditions = []metav1.Condition{{Type: clusterv1.ManagedClusterConditionAvailable, Status: status}}
	return cluster
}

func namespace() *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "cluster1"}}
}

func newBench(t *testing.T, objects ...client.Object) *bench {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(fleet.AddToScheme(scheme), corev1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	b := &bench{
		clock: clocktesting.NewFakePassiveClock(fixture.Now.Time), events: toolsevents.NewFakeRecorder(10),
		refuse: func(string) error { return nil },
	}
	b.hub = fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithInterceptorFuncs(interceptor.Funcs{
		Get: func(ctx context.Context, hub client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			if err := b.refuse("get " + key.String()); err != nil {
				return err
			}
			return hub.Get(ctx, key, object, options...)
		},
		List: func(ctx context.Context, hub client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if err := b.refuse("list"); err != nil {
				return err
			}
			return hub.List(ctx, list, options...)
		},
		Patch: func(ctx context.Context, hub client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			if err := b.refuse("patch"); err != nil {
				return err
			}
			return hub.Patch(ctx, object, patch, options...)
		},
	}).Build()
	store := declarations.NewStore()
	store.Set(evaluation.New(catalog.New([]addonv1alpha1.ClusterManagementAddOn{
		fixture.Specified(t, "base", "{}"), fixture.Specified(t, "leaf", "{ordering: Install, dependencies: [{name: base}]}"),
	})))
	b.Reconciler = &Reconciler{
		Clock: b.clock, Fleet: hubcache.NewReader(b.hub), Declarations: store, Assessments: assess.NewStore(),
		Live: b.hub, Writer: b.hub, Recorder: b.events,
	}
	return b
}

// reconcile reconciles base, and returns its remaining finalizers.
func (b *bench) reconcile(t *testing.T) (finalizers []string, result reconcile.Result) {
	t.Helper()
	result, err := b.Reconcile(t.Context(), reconcile.Request{NamespacedName: base})
	if err != nil {
		t.Fatal(err)
	}
	addOn := &addonv1alpha1.ManagedClusterAddOn{}
	if err := b.hub.Get(t.Context(), base, addOn); client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	return addOn.Finalizers, result
}

func (b *bench) emitted() (reasons []string) {
	for len(b.events.Events) > 0 {
		reasons = append(reasons, strings.Fields(<-b.events.Events)[1])
	}
	return reasons
}

func TestAnAddOnIsReleasedAfterItsDependents(t *testing.T) {
	leaf := deleted("leaf", theirs)
	b := newBench(t, joined(metav1.ConditionTrue), namespace(), leaf, deleted("base", theirs, addonv1alpha1.WaitForDependentsFinalizer))
	for range 2 {
		if got, result := b.reconcile(t); len(got) != 2 || result.RequeueAfter != 10*time.Minute {
			t.Errorf("it does not wait: %v %v", got, result)
		}
	}
	if got := b.emitted(); !slices.Equal(got, []string{EventWaits}) {
		t.Errorf("emitted %v", got)
	}
	leaf.Finalizers = nil
	if err := b.hub.Update(t.Context(), leaf); err != nil {
		t.Fatal(err)
	}
	if got, _ := b.reconcile(t); !slices.Equal(got, []string{theirs}) {
		t.Errorf("only another writer's finalizer stays: %v", got)
	}
	if got := b.emitted(); len(got) > 0 {
		t.Errorf("emitted %v", got)
	}
	if _, waits := b.waits.Load(base); waits {
		t.Error("what was released is remembered for ever")
	}
}

// Edges that are waived, or do not apply on the managed cluster, do not delay the deletion.
func TestAnEdgeThatIsWaivedHoldsNothing(t *testing.T) {
	waits := deleted("base", addonv1alpha1.WaitForDependentsFinalizer)
	b := newBench(t, joined(metav1.ConditionTrue), namespace(), deleted("leaf", theirs), waits)
	edge := addonv1alpha1.AddonDependency{Name: "base", Type: addonv1alpha1.DependencyTypeRequired}
	b.Assessments.Set(types.NamespacedName{Namespace: base.Namespace, Name: "leaf"}, b.Declarations.Current(), outcome.Assessment{
		Findings: []evaluation.Finding{{Dependency: &edge, Verdict: evaluation.Waived}},
	})
	if got, _ := b.reconcile(t); len(got) > 0 {
		t.Errorf("it waits: %v", got)
	}
}

func TestAnAddOnIsReleased(t *testing.T) {
	detaching := joined(metav1.ConditionTrue)
	detaching.Finalizers, detaching.DeletionTimestamp = []string{theirs}, &metav1.Time{Time: fixture.Now.Time}
	terminating := namespace()
	terminating.Finalizers, terminating.DeletionTimestamp = []string{theirs}, &metav1.Time{Time: fixture.Now.Time}
	staying := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Name: "leaf"}}
	for _, test := range []struct {
		name    string
		objects []client.Object
		elapsed time.Duration
		emits   []string
	}{
		{"alone", []client.Object{joined(metav1.ConditionTrue), namespace()}, 0, nil},
		{"where the dependent stays", []client.Object{joined(metav1.ConditionTrue), namespace(), staying}, 3 * time.Second, nil},
		{
			"after ten minutes",
			[]client.Object{joined(metav1.ConditionTrue), namespace(), deleted("leaf", theirs)},
			10 * time.Minute,
			[]string{EventLate},
		},
		{"on a lost cluster", []client.Object{joined(metav1.ConditionUnknown), namespace(), deleted("leaf", theirs)}, 0, nil},
		{"on a cluster that is being detached", []client.Object{detaching, namespace(), deleted("leaf", theirs)}, 0, nil},
		{"on a cluster that is gone", []client.Object{namespace(), deleted("leaf", theirs)}, 0, nil},
		{"in a namespace that is being deleted", []client.Object{joined(metav1.ConditionTrue), terminating, deleted("leaf", theirs)}, 0, nil},
		{"in a namespace that is gone", []client.Object{joined(metav1.ConditionTrue), deleted("leaf", theirs)}, 0, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(t, append(test.objects, deleted("base", addonv1alpha1.WaitForDependentsFinalizer))...)
			b.clock.SetTime(b.clock.Now().Add(test.elapsed))
			if got, result := b.reconcile(t); len(got) > 0 || !result.IsZero() {
				t.Errorf("still there: %v %v", got, result)
			}
			if got := b.emitted(); !slices.Equal(got, test.emits) {
				t.Errorf("emitted %v", got)
			}
		})
	}
}

// The cache does not show yet that the dependent is being deleted, or was deleted.
func TestTheCacheIsBehind(t *testing.T) {
	staying := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Name: "leaf"}}
	stale := newBench(t, joined(metav1.ConditionTrue), namespace(), staying)
	leaf := deleted("leaf", theirs)
	b := newBench(t, joined(metav1.ConditionTrue), namespace(), leaf, deleted("base", addonv1alpha1.WaitForDependentsFinalizer))
	b.Fleet = stale.Fleet
	b.clock.SetTime(b.clock.Now().Add(teardown.BatchTime))
	if got, result := b.reconcile(t); len(got) != 1 || result.RequeueAfter == 0 {
		t.Errorf("it does not wait: %v %v", got, result)
	}
	b.refuse = func(request string) error {
		if request == "list" {
			return errors.New("the hub is busy")
		}
		return nil
	}
	if _, err := b.Reconcile(t.Context(), reconcile.Request{NamespacedName: base}); err == nil {
		t.Error("it goes although it is not known whether its dependent is deleted")
	}
	b.refuse = func(string) error { return nil }
	leaf.Finalizers = nil
	if err := b.hub.Update(t.Context(), leaf); err != nil {
		t.Fatal(err)
	}
	if got, _ := b.reconcile(t); len(got) > 0 {
		t.Errorf("still there: %v", got)
	}
}

func TestFinalizerIsKeptWithoutDeletion(t *testing.T) {
	addOn := deleted("base", addonv1alpha1.WaitForDependentsFinalizer)
	addOn.DeletionTimestamp = nil
	b := newBench(t, joined(metav1.ConditionTrue), namespace(), addOn)
	if got, _ := b.reconcile(t); len(got) != 1 {
		t.Errorf("finalizers %v", got)
	}
	b = newBench(t, deleted("base", theirs))
	if got, _ := b.reconcile(t); !slices.Equal(got, []string{theirs}) {
		t.Errorf("finalizers %v", got)
	}
}

func TestWhatFailsIsTriedAgain(t *testing.T) {
	busy := errors.New("the hub is busy")
	for _, fails := range []string{"get cluster1/base", "get /cluster1", "list", "patch"} {
		b := newBench(t, joined(metav1.ConditionTrue), namespace(), deleted("base", addonv1alpha1.WaitForDependentsFinalizer))
		b.refuse = func(request string) error {
			if request == fails {
				return busy
			}
			return nil
		}
		if _, err := b.Reconcile(t.Context(), reconcile.Request{NamespacedName: base}); !errors.Is(err, busy) {
			t.Errorf("%s: %v", fails, err)
		}
	}
	b := newBench(t, joined(metav1.ConditionTrue), namespace(), deleted("base", addonv1alpha1.WaitForDependentsFinalizer))
	b.refuse = func(request string) error {
		if request == "patch" {
			return apierrors.NewNotFound(addonv1alpha1.GroupVersion.WithResource("managedclusteraddons").GroupResource(), "base")
		}
		return nil
	}
	if _, err := b.Reconcile(t.Context(), reconcile.Request{NamespacedName: base}); err != nil {
		t.Errorf("gone meanwhile: %v", err)
	}
}
