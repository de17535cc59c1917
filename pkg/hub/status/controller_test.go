package status

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/flowcontrol"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"open-cluster-management.io/interlock/pkg/hub/declarations"
	"open-cluster-management.io/interlock/pkg/hub/metrics"
	"open-cluster-management.io/interlock/pkg/kube/controllers"
)

func TestAnswersToAWrite(t *testing.T) {
	broken := errors.New("etcd is on fire")
	for _, test := range []struct {
		name   string
		answer error
		want   reconcile.Result
		fails  bool
		writes string // of the metric
		events int
	}{
		{"written", nil, reconcile.Result{}, false, `{addon="leaf",reason="RequiredDependencyNotSatisfied",result="success"} 1`, 1},
		{
			"another writer was first: soon again", apierrors.NewConflict(resource, leaf.Name, broken), controllers.AfterConflict, false,
			`{addon="leaf",reason="RequiredDependencyNotSatisfied",result="conflict"} 1`, 0,
		},
		{"deleted meanwhile: nothing to do", apierrors.NewNotFound(resource, leaf.Name), reconcile.Result{}, false, "", 0},
		{
			"anything else is an error", broken,
			reconcile.Result{},
			true,
			`{addon="leaf",reason="RequiredDependencyNotSatisfied",result="error"} 1`, 0,
		},
		{
			"no right to write is an error", apierrors.NewForbidden(resource, leaf.Name, broken),
			reconcile.Result{},
			true,
			`{addon="leaf",reason="RequiredDependencyNotSatisfied",result="error"} 1`, 0,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(t, addOn("leaf"))
			b.refusal = test.answer
			result, err := b.reconcile(t)
			if (err != nil) != test.fails {
				t.Fatalf("error %v", err)
			}
			if test.fails && (!errors.Is(err, test.answer) || !strings.Contains(err.Error(), leaf.String())) {
				t.Errorf("error %q does not wrap the cause and name the object", err)
			}
			if result != test.want {
				t.Errorf("comes again as %+v, want %+v", result, test.want)
			}
			if emitted := b.emitted(); len(emitted) != test.events {
				t.Errorf("events %q, want %d", emitted, test.events)
			}
			if test.writes == "" {
				b.expectWrites(t)
			} else {
				b.expectWrites(t, test.writes)
			}
		})
	}
}

func TestNothingToWrite(t *testing.T) {
	lost := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: leaf.Namespace}}
	meta.SetStatusCondition(&lost.Status.Conditions,
		conditionOf(clusterv1.ManagedClusterConditionAvailable, metav1.ConditionUnknown, "Lost"))
	running := addOn("base", conditionOf("Available", metav1.ConditionTrue, "Fine"))
	for _, test := range []struct {
		name    string
		objects []client.Object
	}{
		{"the add-on is gone", nil},
		{"its dependency runs", []client.Object{addOn("leaf"), running}},
		{"its cluster is lost", []client.Object{addOn("leaf"), lost}},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(t, test.objects...)
			if result, err := b.reconcile(t); err != nil || !result.IsZero() {
				t.Errorf("result %v, error %v", result, err)
			}
			if b.applies != 0 || len(b.emitted()) != 0 {
				t.Errorf("%d writes", b.applies)
			}
		})
	}
}

// The fake hub ignores writes, as if another writer overwrote Degraded each
// time.
func TestContested(t *testing.T) {
	b := newBench(t, addOn("leaf"))
	for i, waited := range []time.Duration{0, 0, 500 * time.Millisecond, time.Second} {
		result, err := b.reconcile(t)
		if err != nil || result.RequeueAfter != waited {
			t.Fatalf("round %d: waits %s, want %s; error %v", i, result.RequeueAfter, waited, err)
		}
		if waited > 0 {
			if b.applies != i {
				t.Fatalf("round %d: wrote although it is to wait", i)
			}
			b.clock.Step(waited)
			if _, err := b.reconcile(t); err != nil {
				t.Fatal(err)
			}
		}
	}
	emitted := b.emitted()
	if len(emitted) != 4 {
		t.Fatalf("events %q", emitted)
	}
	for _, event := range emitted[:2] { // one overwrite is only a lost race
		if !strings.HasPrefix(event, "Warning RequiredDependencyNotSatisfied") {
			t.Errorf("event %q", event)
		}
	}
	for _, event := range emitted[2:] {
		if !strings.HasPrefix(event, "Warning "+EventContested) {
			t.Errorf("event %q", event)
		}
	}
	contested := "# HELP " + metrics.NameContested + " " + metrics.Help[metrics.NameContested] +
		"\n# TYPE " + metrics.NameContested + " counter\n" +
		metrics.NameContested + `{addon="leaf"} 2` + "\n"
	if err := testutil.GatherAndCompare(b.registry, strings.NewReader(contested), metrics.NameContested); err != nil {
		t.Error(err)
	}
}

func TestUnreadableCacheIsAnError(t *testing.T) {
	broken := errors.New("not synced")
	for _, kind := range []string{"*v1alpha1.ManagedClusterAddOn", "*v1.ManagedCluster"} {
		t.Run(kind, func(t *testing.T) {
			b := newBench(t, addOn("leaf"))
			b.read(failing{b.hub, kind, broken})
			if _, err := b.reconcile(t); !errors.Is(err, broken) {
				t.Errorf("error %v", err)
			}
			if b.applies != 0 {
				t.Error("wrote without having read")
			}
		})
	}
}

// Before the first catalog no add-on is evaluated, and a stop does not hang.
func TestWaitsForTheFirstCatalog(t *testing.T) {
	b := newBench(t, addOn("leaf"))
	b.Declarations = declarations.NewStore()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := b.Reconcile(ctx, reconcile.Request{NamespacedName: leaf})
		ended <- err
	}()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if b.applies != 0 {
		t.Error("wrote before it knew of any declaration")
	}
}

func TestEventsGiveWayToConditions(t *testing.T) {
	b := newBench(t, addOn(leaf.Name))
	b.EventLimiter = flowcontrol.NewTokenBucketPassiveRateLimiter(1e-9, 1)
	for range 3 { // the cache does not show the writes
		if _, err := b.reconcile(t); err != nil {
			t.Fatal(err)
		}
		b.Backoff.Forget(leaf)
	}
	if emitted := b.emitted(); len(emitted) != 1 || b.applies != 3 {
		t.Errorf("%d events %q for %d writes", len(emitted), emitted, b.applies)
	}
	text := "# HELP " + metrics.NameEventsLeftOut + " " + metrics.Help[metrics.NameEventsLeftOut] +
		"\n# TYPE " + metrics.NameEventsLeftOut + " counter\n" +
		metrics.NameEventsLeftOut + " 2\n"
	if err := testutil.GatherAndCompare(b.registry, strings.NewReader(text), metrics.NameEventsLeftOut); err != nil {
		t.Error(err)
	}
}
