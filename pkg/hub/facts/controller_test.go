package facts

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/factsinformer"
)

type status = dependencyv1alpha1.ManagedClusterFactsStatus

const asksAll = `{"addOns":[{"name":"base"}],"apis":[{"group":"a.io","kind":"Widget"}]}`

func specText(t *testing.T, object runtime.ApplyConfiguration) string {
	t.Helper()
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	var content struct{ Spec json.RawMessage }
	if err := json.Unmarshal(text, &content); err != nil {
		t.Fatal(err)
	}
	return string(content.Spec)
}

func (b *bench) reconcile(t *testing.T) reconcile.Result {
	t.Helper()
	result, err := b.Reconcile(t.Context(), requestFor(cluster))
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func (b *bench) takeWoken() []string {
	woken := b.woken
	b.woken = nil
	slices.Sort(woken)
	return woken
}

func TestAsksWhatIsNotAskedYet(t *testing.T) {
	b := newBench(t)
	b.reconcile(t)
	if len(b.applies) != 1 || b.applies[0] != asksAll {
		t.Errorf("asked %v, want %s", b.applies, asksAll)
	}
	b.asks(status{})
	b.reconcile(t)
	if len(b.applies) != 1 {
		t.Error("asked what is asked already")
	}
	b.object.Spec.AddOns = nil
	b.clock.Step(time.Minute)
	b.reconcile(t)
	if len(b.applies) != 2 {
		t.Error("left alone what somebody changed")
	}
	for range 100 {
		b.reconcile(t)
	}
	if len(b.applies) > 3 {
		t.Errorf("wrote %d times against a writer that insists", len(b.applies)-2)
	}
}

func TestNothingIsAskedOfAClusterThatNeedsNothing(t *testing.T) {
	b := newBench(t)
	for _, name := range []string{"api", "version"} {
		if err := b.hub.Delete(t.Context(), installedAddOn(name)); err != nil {
			t.Fatal(err)
		}
	}
	b.reconcile(t)
	if len(b.applies) != 0 || b.deletes != 0 {
		t.Errorf("asked %v, deleted %d times", b.applies, b.deletes)
	}
	b.asks(status{})
	b.reconcile(t)
	if b.deletes != 1 {
		t.Error("left what nobody asks any more")
	}
}

// While OCM's operator has taken the fields from its CRD, or an author has
// mistyped an annotation, nobody knows what is asked.
func TestNothingIsTakenBackWhileADeclarationIsHidden(t *testing.T) {
	b := newBench(t)
	b.asks(status{})
	declared := b.Reconciler.Declarations.Current()
	hidden := declared.Renew([]addonv1alpha1.ClusterManagementAddOn{
		registeredAddOn("api"), registeredAddOn("version"), registeredAddOn("plain"), registeredAddOn("base"),
	})
	b.Reconciler.Declarations.Set(evaluation.New(hidden.WithoutFields()))
	b.reconcile(t)
	b.Reconciler.Declarations.Set(declared)
	b.reconcile(t)
	if b.deletes != 0 || len(b.applies) != 0 {
		t.Errorf("deleted %d times, asked %v", b.deletes, b.applies)
	}
}

func TestWhatIsRememberedOfAClusterGoesWithItsQuestions(t *testing.T) {
	b := newBench(t)
	b.Reconciler.Forget = b.Answers.Forget
	b.Facts(cluster)
	if len(b.waiting) != 1 {
		t.Fatalf("waits for %v", b.waiting)
	}
	for _, name := range []string{"api", "version"} {
		if err := b.hub.Delete(t.Context(), installedAddOn(name)); err != nil {
			t.Fatal(err)
		}
	}
	b.reconcile(t)
	if len(b.waiting) != 0 {
		t.Errorf("still waits for %v", b.waiting)
	}
}

func TestAnAddOnThatGoesAfterItsRegistration(t *testing.T) {
	b := newBench(t)
	b.asks(status{})
	b.Reconciler.Declarations.Set(evaluation.New(catalog.New(nil)))
	q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	defer q.ShutDown()
	b.addOns().Delete(t.Context(), event.TypedDeleteEvent[installed]{Object: installedAddOn("api")}, q)
	if q.Len() != 1 {
		t.Error("its cluster is not looked at, and keeps the object")
	}
}

func TestWakesWhoseAnswerChanged(t *testing.T) {
	b := newBench(t)
	steps := []struct {
		name   string
		status status
		want   []string
	}{
		{name: "nobody has answered", want: []string{"api", "version"}}, // the first look at all
		{name: "one answer", status: status{APIs: []dependencyv1alpha1.APIFact{servedFact("False")}}, want: []string{"api"}},
		{name: "the same", status: status{ObservedGeneration: 1, APIs: []dependencyv1alpha1.APIFact{servedFact("False")}}},
		{name: "another", status: status{APIs: []dependencyv1alpha1.APIFact{servedFact("True")}}, want: []string{"api"}},
		{
			name: "of the version", want: []string{"version"},
			status: status{APIs: []dependencyv1alpha1.APIFact{servedFact("True")}, AddOns: []dependencyv1alpha1.AddOnFact{versionFact("1.0.0")}},
		},
		{name: "none any more", want: []string{"api", "version"}},
	}
	for _, step := range steps {
		b.asks(step.status)
		b.reconcile(t)
		if woken := b.takeWoken(); !slices.Equal(woken, step.want) {
			t.Errorf("%s: woke %v, want %v", step.name, woken, step.want)
		}
	}
}

func TestAWakeThatFailsIsMadeUpFor(t *testing.T) {
	b := newBench(t)
	wake := b.Wake
	b.Wake = func(context.Context, []types.NamespacedName) error { return errors.New("ending") }
	b.asks(status{})
	if _, err := b.Reconcile(t.Context(), requestFor(cluster)); err == nil {
		t.Fatal("no error")
	}
	b.Wake = wake
	b.reconcile(t)
	if woken := b.takeWoken(); len(woken) != 2 {
		t.Errorf("woke %v", woken)
	}
}

func TestHubWithoutTheCRD(t *testing.T) {
	b := newBench(t)
	b.state = factsinformer.Absent
	b.reconcile(t)
	b.reconcile(t)
	if len(b.applies) != 0 {
		t.Error("asks although nobody can be")
	}
	if woken := b.takeWoken(); !slices.Equal(woken, []string{"api", "version"}) {
		t.Errorf("woke %v", woken)
	}
	if len(b.events) != 2 { // one for each author
		t.Errorf("%d events", len(b.events))
	}
	if event := <-b.events; !strings.Contains(event, dependencyv1alpha1.CRDName) {
		t.Errorf("does not say what to install: %s", event)
	}
}

func TestHubThatHasNotAnswered(t *testing.T) {
	b := newBench(t)
	b.state = factsinformer.Unknown
	b.reconcile(t)
	if len(b.applies)+len(b.woken)+len(b.events) != 0 {
		t.Errorf("did something before anything is known: %v, %v", b.applies, b.woken)
	}
}

func TestWritesThatFail(t *testing.T) {
	terminating := apierrors.NewForbidden(schema.GroupResource{}, cluster, errors.New("being terminated"))
	terminating.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	for _, test := range []struct {
		name   string
		answer error
		fails  bool
	}{
		{name: "the hub fails", answer: apierrors.NewInternalError(errors.New("no")), fails: true},
		{name: "no right", answer: apierrors.NewForbidden(schema.GroupResource{}, cluster, errors.New("no")), fails: true},
		{name: "the cluster is being removed", answer: terminating},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(t)
			b.answer = test.answer
			if _, err := b.Reconcile(t.Context(), requestFor(cluster)); (err != nil) != test.fails {
				t.Errorf("error %v", err)
			}
			b.answer = nil
			b.reconcile(t)
			if len(b.applies) != 2 {
				t.Errorf("%d tries", len(b.applies))
			}
		})
	}
}
