package installation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/hub/declarations"
	"open-cluster-management.io/interlock/pkg/hub/firstpass"
	"open-cluster-management.io/interlock/pkg/hub/hubcache"
	"open-cluster-management.io/interlock/pkg/hub/lifecycle/approval"
	lifecycle "open-cluster-management.io/interlock/pkg/hub/lifecycle/installation"
	"open-cluster-management.io/interlock/pkg/trigger"
	"open-cluster-management.io/interlock/test/fixture"
	"open-cluster-management.io/interlock/test/triggertest"
)

const (
	listed  = `installStrategy: {type: Placements, placements: [{namespace: open-cluster-management-interlock, name: base}]}`
	manual  = `installStrategy: {type: Manual}`
	needing = `dependencies: [{name: base, install: Auto}]`
)

// bench is a reconciler on a fake hub with available managed clusters. On each of them, the add-on leaf needs base.
type bench struct {
	*Reconciler
	hub      client.Client
	clock    *clocktesting.FakePassiveClock
	recorder *events.FakeRecorder
	declared *evaluation.Evaluator
	// refuse is asked with each write: its verb and kind, and the object.
	refuse   func(write, name string) error
	writes   []string
	registry *prometheus.Registry
	// patches is how many there were.
	patches int
}

func newBench(t *testing.T, base string, onDemand bool, clusters int) *bench {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(fleet.AddToScheme(scheme), corev1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	b := &bench{
		refuse: func(string, string) error { return nil }, recorder: events.NewFakeRecorder(10_000), registry: prometheus.NewRegistry(),
	}
	wrote := func(verb string, object client.Object) error {
		kind := strings.TrimPrefix(fmt.Sprintf("%T", object), "*v1")
		kind = kind[strings.LastIndex(kind, ".")+1:]
		b.writes = append(b.writes, verb+" "+kind+" "+object.GetName())
		return b.refuse(verb+" "+kind, object.GetNamespace()+"/"+object.GetName())
	}
	builder := fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(&clusterv1beta1.PlacementDecision{}).WithReturnManagedFields().
		WithIndex(&addonv1alpha1.ManagedClusterAddOn{}, hubcache.IndexName, func(o client.Object) []string { return []string{o.GetName()} }).
		WithInterceptorFuncs(interceptor.Funcs{
			Create: func(ctx context.Context, hub client.WithWatch, object client.Object, options ...client.CreateOption) error {
				if err := wrote("create", object); err != nil {
					return err
				}
				if object.GetCreationTimestamp().Time.IsZero() {
					object.SetCreationTimestamp(metav1.NewTime(b.clock.Now().Truncate(time.Second)))
				}
				return hub.Create(ctx, object, options...)
			},
			Delete: func(ctx context.Context, hub client.WithWatch, object client.Object, options ...client.DeleteOption) error {
				if err := wrote("delete", object); err != nil {
					return err
				}
				return hub.Delete(ctx, object, options...)
			},
			Patch: func(ctx context.Context, hub client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
				b.patches++
				if err := b.refuse("patch", object.GetNamespace()+"/"+object.GetName()); err != nil {
					return err
				}
				return hub.Patch(ctx, object, patch, options...)
			},
			SubResourceUpdate: func(
				ctx context.Context, hub client.Client, of string, object client.Object, options ...client.SubResourceUpdateOption,
			) error {
				if err := wrote("update", object); err != nil {
					return err
				}
				return hub.SubResource(of).Update(ctx, object, options...)
			},
		})
	for i := range clusters {
		builder.WithObjects(cluster(i), leaf(i))
	}
	b.hub = builder.Build()
	b.clock = clocktesting.NewFakePassiveClock(fixture.Now.Time)
	b.Reconciler = &Reconciler{
		Clock: b.clock, Declarations: declarations.NewStore(), Needs: &Needs{Changed: trigger.New()}, Live: b.hub, Writer: b.hub,
		Inputs: hubcache.Inputs{
			Reader: hubcache.NewReader(b.hub), Lazy: fleet.Objects{Reader: b.hub}, Watches: fixture.Watches(true),
			Installations: hubcache.NewInstallations(true),
		},
		Recorder: b.recorder, Metrics: lifecycle.NewMetrics(b.registry), Changed: trigger.New(), Evaluate: trigger.New(),
		Policies: func(context.Context) ([]dependencyv1alpha1.AddOnDependencyPolicy, error) { return nil, nil },
	}
	b.declare(t, base, onDemand)
	for i := range clusters {
		b.needs(i)
	}
	return b
}

func cluster(i int) *clusterv1.ManagedCluster {
	joined := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("cluster%03d", i)}}
	joined.Status.Conditions = []metav1.Condition{{Type: clusterv1.ManagedClusterConditionAvailable, Status: metav1.ConditionTrue}}
	return joined
}

// leaf has been on a managed cluster for an hour.
func leaf(i int) *addonv1alpha1.ManagedClusterAddOn {
	return &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{
		Namespace: cluster(i).Name, Name: "leaf", CreationTimestamp: metav1.NewTime(fixture.Now.Add(-time.Hour)),
	}}
}

func (b *bench) declare(t *testing.T, base string, onDemand bool) {
	t.Helper()
	registered := fixture.Specified(t, "base", "{"+base+"}")
	if onDemand {
		registered.Annotations = map[string]string{
			addonv1alpha1.InstallOnDemandAnnotation: "true", addonv1alpha1.ApproveInstallAnnotation: "1000",
		}
	}
	b.declared = evaluation.New(catalog.New([]addonv1alpha1.ClusterManagementAddOn{registered, fixture.Specified(t, "leaf", "{"+needing+"}")}))
	b.Declarations.Set(b.declared)
}

// needs lets leaf need base on a managed cluster.
func (b *bench) needs(i int) {
	state := b.declared.State("leaf", evaluation.Cluster{}, func(string) evaluation.Observation { return evaluation.Observation{} })
	b.Needs.Found(types.NamespacedName{Namespace: cluster(i).Name, Name: "leaf"}, b.declared, b.declared.Evaluate("leaf", state))
}

// reconcile returns what is written.
func (b *bench) reconcile(t *testing.T) ([]string, reconcile.Result, error) {
	t.Helper()
	b.writes = nil
	result, err := b.Reconcile(t.Context(), reconcile.Request{NamespacedName: Key})
	return b.writes, result, err
}

// emitted returns the reasons of the events since the last call.
func (b *bench) emitted() (reasons []string) {
	for len(b.recorder.Events) > 0 {
		reasons = append(reasons, strings.Fields(<-b.recorder.Events)[1])
	}
	return reasons
}

func (b *bench) decided(t *testing.T) map[string]int {
	t.Helper()
	var all clusterv1beta1.PlacementDecisionList
	if err := b.hub.List(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	decided := map[string]int{}
	for _, one := range all.Items {
		decided[one.Name] = len(one.Status.Decisions)
	}
	return decided
}

func TestNothingIsInstalledBeforeAllIsAssessed(t *testing.T) {
	b := newBench(t, listed, true, 2)
	b.FirstPass = firstpass.New()
	queued := triggertest.Enqueued(t, b.Changed)
	for i := range 2 {
		b.FirstPass.Add(client.ObjectKeyFromObject(leaf(i)))
	}
	b.FirstPass.Listed()
	b.FirstPass.Failed(client.ObjectKeyFromObject(leaf(1)))
	if writes, result, err := b.reconcile(t); err != nil || len(writes) > 0 || !result.IsZero() {
		t.Errorf("before the first cluster is assessed: %v %v %v", writes, result, err)
	}
	for i, name := range []string{"one cluster is not assessed because of an error", "it is"} {
		b.FirstPass.Assessed(client.ObjectKeyFromObject(leaf(i)))
		if keys := queued(); !slices.Equal(keys, []string{"/" + Key.Name}) {
			t.Errorf("%s: enqueued %q", name, keys)
		}
		if _, _, err := b.reconcile(t); err != nil || b.decided(t)["base-interlock-1"] != i+1 {
			t.Errorf("%s: %v %v", name, b.decided(t), err)
		}
	}
}

func TestDecisionsAreWrittenOnceAndSplit(t *testing.T) {
	b := newBench(t, listed, false, 130)
	for range 7 { // 20 clusters a minute, of at most half of the fleet
		if _, _, err := b.reconcile(t); err != nil {
			t.Fatal(err)
		}
		b.clock.SetTime(b.clock.Now().Add(time.Minute))
	}
	if got := b.decided(t); len(got) != 0 {
		t.Errorf("without an approval: %v", got)
	}
	if got := b.emitted(); !slices.Equal(got, []string{approval.EventInstallation}) {
		t.Errorf("emitted %v", got)
	}
	b.declare(t, listed, true)
	for range 7 {
		if _, _, err := b.reconcile(t); err != nil {
			t.Fatal(err)
		}
		b.clock.SetTime(b.clock.Now().Add(time.Minute))
	}
	if got := b.decided(t); got["base-interlock-1"] != 100 || got["base-interlock-2"] != 30 {
		t.Errorf("decided %v", got)
	}
	if writes, result, err := b.reconcile(t); err != nil || len(writes) > 0 || !result.IsZero() {
		t.Errorf("nothing is left to be done: %v %v %v", writes, result, err)
	}
}

func TestADecisionThatCannotBeWrittenIsNoInstallation(t *testing.T) {
	for _, refused := range []string{"create Unstructured", "create Placement", "create PlacementDecision", "update PlacementDecision"} {
		b := newBench(t, listed, false, 2)
		b.refuse = func(write, _ string) error {
			if write == refused {
				return errors.New("the hub is busy")
			}
			return nil
		}
		if _, _, err := b.reconcile(t); err == nil || len(b.emitted()) > 0 {
			t.Errorf("%s: %v", refused, err)
		}
		b.refuse = func(string, string) error { return nil }
		if _, _, err := b.reconcile(t); err != nil || len(b.emitted()) != 2 || b.decided(t)["base-interlock-1"] != 2 {
			t.Errorf("%s: %v, decided %v", refused, err, b.decided(t))
		}
	}
}

func TestDecisionsFollowTheFleetAndTheConsent(t *testing.T) {
	b := newBench(t, listed, false, 2)
	if _, _, err := b.reconcile(t); err != nil {
		t.Fatal(err)
	}
	if err := b.hub.Delete(t.Context(), cluster(0)); err != nil {
		t.Fatal(err)
	}
	if writes, _, err := b.reconcile(t); err != nil || !slices.Equal(writes, []string{"update PlacementDecision base-interlock-1"}) {
		t.Errorf("%v %v", writes, err)
	}
	b.declare(t, manual, false)
	b.refuse = func(write, _ string) error {
		if write == "delete PlacementDecision" {
			return errors.New("the hub is busy")
		}
		return nil
	}
	if _, _, err := b.reconcile(t); err == nil {
		t.Error("a decision that stays is no error")
	}
	b.refuse = func(string, string) error { return nil }
	if _, _, err := b.reconcile(t); err != nil || len(b.decided(t)) > 0 {
		t.Errorf("%v, decided %v", err, b.decided(t))
	}
}

func TestNothingIsInstalledWhileSomethingCannotBeRead(t *testing.T) {
	b := newBench(t, listed, true, 1)
	b.Policies = func(context.Context) ([]dependencyv1alpha1.AddOnDependencyPolicy, error) {
		return nil, errors.New("the hub is busy")
	}
	if writes, _, err := b.reconcile(t); err == nil || len(writes) > 0 {
		t.Errorf("%v %v", writes, err)
	}
	b.Policies = func(context.Context) ([]dependencyv1alpha1.AddOnDependencyPolicy, error) { return nil, nil }
	b.declare(t, listed, false)
	b.Inputs.Watches = fixture.Watches(false)
	b.declare(t, `installStrategy: {type: Placements, placements: [
		{namespace: open-cluster-management-interlock, name: base}, {namespace: other, name: other}]}`, false)
	if _, _, err := b.reconcile(t); err != nil || len(b.decided(t)) > 0 {
		t.Errorf("what other Placements select is not known: %v, decided %v", err, b.decided(t))
	}
}

func TestNeedsAreForgotten(t *testing.T) {
	b := newBench(t, listed, true, 2)
	b.Needs.Found(types.NamespacedName{Namespace: "cluster000", Name: "leaf"}, nil, nil)
	if _, _, err := b.reconcile(t); err != nil || b.decided(t)["base-interlock-1"] != 1 {
		t.Errorf("%v %v", b.decided(t), err)
	}
}
