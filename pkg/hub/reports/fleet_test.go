package reports

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/report"
	"open-cluster-management.io/interlock/test/fixture"
)

// fleetBench is a bench with the controller of the report on the fleet.
type fleetBench struct {
	*bench
	fleet *fleetReconciler
	clock *clocktesting.FakePassiveClock
}

func newFleetBench(t *testing.T) *fleetBench {
	t.Helper()
	b := &fleetBench{bench: newBench(t), clock: clocktesting.NewFakePassiveClock(fixture.Now.Time)}
	b.Clock = b.clock
	b.restart()
	return b
}

// restart is another leader that begins.
func (b *fleetBench) restart() {
	b.Reconciler.fleet = fleetStates{}
	b.fleet = &fleetReconciler{clusters: b.Reconciler}
}

// reconcileFleet reconciles clusters, and then the report on the fleet. It returns the requests for the report, and the stored one.
func (b *fleetBench) reconcileFleet(t *testing.T, clusters ...string) ([]string, *report.FleetReport, reconcile.Result) {
	t.Helper()
	for _, cluster := range clusters {
		if _, err := b.Reconcile(t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Name: cluster}}); err != nil {
			t.Fatal(err)
		}
	}
	b.requests = nil
	result, err := b.fleet.Reconcile(t.Context(), reconcile.Request{NamespacedName: fleetKey})
	if err != nil {
		t.Fatal(err)
	}
	requests := b.requests
	stored := &report.FleetReport{}
	if err := b.hub.Get(t.Context(), fleetKey, stored); client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	return requests, stored, result
}

func (b *fleetBench) create(t *testing.T, objects ...client.Object) {
	t.Helper()
	for _, object := range objects {
		if err := b.hub.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
}

func installedOn(cluster, name string) *addonv1alpha1.ManagedClusterAddOn {
	return &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: name}}
}

func TestFleetReportIsWrittenWhereItChanges(t *testing.T) {
	b := newFleetBench(t)
	b.create(t, &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "cluster2"}})
	both := []string{"cluster1", "cluster2"}
	for _, step := range []struct {
		name     string
		action   func(t *testing.T)
		clusters []string
		passed   time.Duration
		want     string
		wait     time.Duration
		// state is the number of clusters, of lost clusters, of root causes and of victims, and the age of the report.
		state string
	}{
		{"a cluster was not evaluated yet", nil, both[:1], 0, "[get]", 0, "0 0 0 0"},
		{"all clusters were evaluated", nil, both[1:], 0, "[apply]", 0, "2 0 1 1 0s"},
		{"nothing changes", nil, both, fleetInterval, "[]", 0, "2 0 1 1 10s"},
		{"another victim", func(t *testing.T) { b.create(t, installedOn("cluster2", "a")) }, both[1:], fleetInterval, "[apply]", 0, "2 0 1 2 0s"},
		{
			"the next change comes too soon",
			func(t *testing.T) { b.reach(t, metav1.ConditionUnknown) }, both[:1],
			time.Second, "[]", fleetInterval - time.Second, "2 0 1 2 1s",
		},
		{"the change is written later", nil, nil, fleetInterval - time.Second, "[apply]", 0, "1 1 1 1 0s"},
		{"a new leader that finds the same", func(*testing.T) { b.restart() }, both, time.Hour, "[get]", 0, "1 1 1 1 1h0m0s"},
		{"another new leader, while the state is another one", func(t *testing.T) {
			b.restart()
			b.reach(t, metav1.ConditionTrue)
		}, both, 0, "[get apply]", 0, "2 0 1 2 0s"},
		{"a new leader right after that", func(t *testing.T) {
			b.restart()
			b.reach(t, metav1.ConditionUnknown)
		}, both, time.Second, "[get]", fleetInterval - time.Second, "2 0 1 2 1s"},
		{"a cluster is deleted", func(t *testing.T) {
			cluster2 := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "cluster2"}}
			for _, object := range []client.Object{installedOn("cluster2", "a"), cluster2} {
				if err := b.hub.Delete(t.Context(), object); err != nil {
					t.Fatal(err)
				}
			}
		}, both, fleetInterval, "[apply]", 0, "0 1 0 0 0s"},
	} {
		if step.action != nil {
			step.action(t)
		}
		b.clock.SetTime(b.clock.Now().Add(step.passed))
		requests, stored, result := b.reconcileFleet(t, step.clusters...)
		victims := int32(0)
		for _, found := range stored.RootCauses {
			victims += found.AddOns
		}
		got := fmt.Sprint(stored.Summary.Clusters, stored.Summary.Lost, stored.Summary.RootCauses, victims)
		if !stored.Observed.IsZero() {
			got += " " + b.clock.Now().Sub(stored.Observed.Time).String()
		}
		if fmt.Sprint(requests) != step.want || result.RequeueAfter != step.wait || got != step.state {
			t.Errorf("%s: %v, after %s, %s; want %s, %s, %s", step.name, requests, result.RequeueAfter, got, step.want, step.wait, step.state)
		}
	}
}

func TestFleetReportExplainsExamples(t *testing.T) {
	b := newFleetBench(t)
	silent := installedOn("cluster1", "lonely")
	silent.Status.Conditions = []metav1.Condition{{Type: "Available", Status: metav1.ConditionFalse, Reason: "Broken"}}
	b.create(t, silent)
	_, stored, _ := b.reconcileFleet(t, "cluster1")
	if len(stored.RootCauses) != 1 || len(stored.Unexplained) != 1 {
		t.Fatalf("%+v", stored)
	}
	cause := stored.RootCauses[0]
	if cause.Title != "b is not installed" || cause.Message == "" || fmt.Sprint(cause.Examples) != "[cluster1]" {
		t.Errorf("%+v", cause)
	}
	if got := stored.Unexplained[0]; got.AddOn != "lonely" || got.Cluster != "cluster1" || got.Reason != "Broken" {
		t.Errorf("%+v", got)
	}
}

func TestFailedFleetReportIsRepeated(t *testing.T) {
	refused := errors.New("refused")
	b := newFleetBench(t)
	b.reconcileFleet(t) // reads what is stored
	if _, err := b.Reconcile(t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Name: "cluster1"}}); err != nil {
		t.Fatal(err)
	}
	b.refusal = refused
	if _, err := b.fleet.Reconcile(t.Context(), reconcile.Request{NamespacedName: fleetKey}); !errors.Is(err, refused) {
		t.Errorf("error %v", err)
	}
	if requests, _, _ := b.reconcileFleet(t); fmt.Sprint(requests) != "[apply]" {
		t.Errorf("%v", requests)
	}
}

// recordingQueue records the keys that are enqueued.
type recordingQueue struct {
	queue

	added []string
}

func (q *recordingQueue) AddAfter(request reconcile.Request, _ time.Duration) {
	q.added = append(q.added, request.String())
}

// Events that change a state enqueue the cluster. Others do not.
func TestEventsThatChangeTheFleetReport(t *testing.T) {
	r, queue := &Reconciler{}, &recordingQueue{}
	clusters, addOns := r.managedClusters(), r.addOns()
	labeled := func(value string) cluster {
		return &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "cluster1", Labels: map[string]string{"region": value}}}
	}
	conditioned := func(reason string) addOn {
		changed := installedOn("cluster1", "a")
		changed.Status.Conditions = []metav1.Condition{{Type: "Available", Status: metav1.ConditionFalse, Reason: reason}}
		return changed
	}
	gated := installedOn("cluster1", "a")
	gated.Annotations = map[string]string{addonv1alpha1.GateAnnotation: addonv1alpha1.GateClosed}
	for name, test := range map[string]struct {
		send func(ctx context.Context)
		want int
	}{
		"a new cluster": {func(ctx context.Context) {
			clusters.Create(ctx, event.TypedCreateEvent[cluster]{Object: labeled("a")}, queue)
		}, 1},
		"other labels": {func(ctx context.Context) {
			clusters.Update(ctx, event.TypedUpdateEvent[cluster]{ObjectOld: labeled("a"), ObjectNew: labeled("b")}, queue)
		}, 1},
		"the same labels": {func(ctx context.Context) {
			clusters.Update(ctx, event.TypedUpdateEvent[cluster]{ObjectOld: labeled("a"), ObjectNew: labeled("a")}, queue)
		}, 0},
		"another condition": {func(ctx context.Context) {
			addOns.Update(ctx, event.TypedUpdateEvent[addOn]{ObjectOld: conditioned("a"), ObjectNew: conditioned("b")}, queue)
		}, 1},
		"the same condition": {func(ctx context.Context) {
			addOns.Update(ctx, event.TypedUpdateEvent[addOn]{ObjectOld: conditioned("a"), ObjectNew: conditioned("a")}, queue)
		}, 0},
		"a gate": {func(ctx context.Context) {
			addOns.Update(ctx, event.TypedUpdateEvent[addOn]{ObjectOld: installedOn("cluster1", "a"), ObjectNew: gated}, queue)
		}, 1},
		"a deleted add-on": {func(ctx context.Context) { addOns.Delete(ctx, event.TypedDeleteEvent[addOn]{Object: gated}, queue) }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			queue.added = nil
			if test.send(t.Context()); len(queue.added) != test.want || test.want > 0 && queue.added[0] != "/cluster1" {
				t.Errorf("%q are enqueued, want %d", queue.added, test.want)
			}
		})
	}
}
