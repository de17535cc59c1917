package facts

import (
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
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/test/fixture"
)

type status = dependencyv1alpha1.ManagedClusterFactsStatus

const requestsEverything = `{"addOns":[{"name":"base"}],"apis":[{"group":"a.io","kind":"Widget"}]}`

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

func clusterAddOn(name string) string { return cluster + "/" + name }

func (b *bench) reconcile(t *testing.T) reconcile.Result {
	t.Helper()
	result, err := b.Reconcile(t.Context(), requestFor(cluster))
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func TestRequestsWhatIsNotRequestedYet(t *testing.T) {
	b := newBench(t)
	b.reconcile(t)
	if len(b.applies) != 1 || b.applies[0] != requestsEverything {
		t.Errorf("requested %v, want %s", b.applies, requestsEverything)
	}
	b.reports(status{})
	b.reconcile(t)
	if len(b.applies) != 1 {
		t.Error("requested what is requested already")
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

func TestNothingIsRequestedOfAClusterThatNeedsNothing(t *testing.T) {
	b := newBench(t)
	for _, name := range []string{"api", "version"} {
		if err := b.hub.Delete(t.Context(), installedAddOn(name)); err != nil {
			t.Fatal(err)
		}
	}
	b.reconcile(t)
	if len(b.applies) != 0 || b.deletes != 0 {
		t.Errorf("requested %v, deleted %d times", b.applies, b.deletes)
	}
	b.reports(status{})
	b.reconcile(t)
	if b.deletes != 1 {
		t.Error("left what nothing needs any more")
	}
}

// While a declaration is invalid, its needs are unknown.
func TestNothingIsRetractedWhileADeclarationIsInvalid(t *testing.T) {
	b := newBench(t)
	b.reports(status{})
	evaluator := b.Declarations.Current()
	b.Declarations.Set(evaluation.New(evaluator.Renew([]addonv1alpha1.ClusterManagementAddOn{
		fixture.Annotated("api", "{"), fixture.Annotated("version", "{"), registeredAddOn("plain"), registeredAddOn("base"),
	}, catalog.Templates{})))
	b.reconcile(t)
	b.Declarations.Set(evaluator)
	b.reconcile(t)
	if b.deletes != 0 || len(b.applies) != 0 {
		t.Errorf("deleted %d times, requested %v", b.deletes, b.applies)
	}
}

// A new leader reads AddOnTemplates, which may have the declarations, after the registrations.
func TestNothingIsRetractedWhileAddOnTemplatesAreUnread(t *testing.T) {
	b := newBench(t)
	b.reports(status{})
	templated := func(name string) addonv1alpha1.ClusterManagementAddOn {
		return fixture.Specified(t, name, `{supportedConfigs: [{group: addon.open-cluster-management.io, resource: addontemplates}]}`)
	}
	b.Declarations.Set(evaluation.New(b.Declarations.Current().Renew([]addonv1alpha1.ClusterManagementAddOn{
		templated("api"), templated("version"), registeredAddOn("plain"), registeredAddOn("base"),
	}, catalog.Templates{Unread: true})))
	if b.reconcile(t); b.deletes != 0 || len(b.applies) != 0 {
		t.Errorf("deleted %d times, requested %v", b.deletes, b.applies)
	}
}

func TestACheckForgetsAClusterThatNeedsNothing(t *testing.T) {
	b := newBench(t)
	requestedAt := b.facts(t).Requested
	b.clock.Step(time.Minute)
	for _, name := range []string{"api", "version"} {
		if err := b.hub.Delete(t.Context(), installedAddOn(name)); err != nil {
			t.Fatal(err)
		}
	}
	b.reconcile(t)
	if err := b.hub.Create(t.Context(), installedAddOn("api")); err != nil {
		t.Fatal(err)
	}
	if got := b.facts(t).Requested; !got.Equal(requestedAt.Add(time.Minute)) {
		t.Errorf("waits since %s, as before: %s", got, requestedAt)
	}
}

func TestAnAddOnThatGoesAfterItsRegistration(t *testing.T) {
	b := newBench(t)
	b.reports(status{})
	b.Declarations.Set(evaluation.New(catalog.New(nil)))
	q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	defer q.ShutDown()
	b.addOns().Delete(t.Context(), event.TypedDeleteEvent[managedClusterAddOn]{Object: installedAddOn("api")}, q)
	if q.Len() != 1 {
		t.Error("its cluster is not looked at, and keeps the object")
	}
}

func TestEnqueuesAddOnsWhoseFactsChange(t *testing.T) {
	b := newBench(t)
	steps := []struct {
		name   string
		status status
		want   []string
	}{
		{name: "nothing is reported", want: []string{clusterAddOn("api"), clusterAddOn("version")}}, // the first snapshot
		{
			name:   "one answer",
			status: status{APIs: []dependencyv1alpha1.APIFact{servedFact("False")}},
			want:   []string{clusterAddOn("api")},
		},
		{name: "the same", status: status{ObservedGeneration: 1, APIs: []dependencyv1alpha1.APIFact{servedFact("False")}}},
		{name: "another", status: status{APIs: []dependencyv1alpha1.APIFact{servedFact("True")}}, want: []string{clusterAddOn("api")}},
		{
			name: "of the version", want: []string{clusterAddOn("version")},
			status: status{
				APIs:   []dependencyv1alpha1.APIFact{servedFact("True")},
				AddOns: []dependencyv1alpha1.AddOnFact{versionFact("1.0.0")},
			},
		},
		{name: "none any more", want: []string{clusterAddOn("api"), clusterAddOn("version")}},
	}
	for _, step := range steps {
		b.reports(step.status)
		b.reconcile(t)
		if enqueued := b.evaluated(); !slices.Equal(enqueued, step.want) {
			t.Errorf("%s: enqueues %v, want %v", step.name, enqueued, step.want)
		}
	}
}

func TestEveryClusterIsEnqueued(t *testing.T) {
	everyRequest := reconcile.Request{NamespacedName: everyCluster}
	b := newBench(t)
	if _, err := b.Reconcile(t.Context(), everyRequest); err != nil {
		t.Fatal(err)
	}
	if got := b.requested(); !slices.Equal(got, []string{"/" + cluster}) {
		t.Errorf("enqueues %q, want the cluster whose add-ons need facts", got)
	}
	b.Declarations.Set(evaluation.New(catalog.New(nil)))
	if _, err := b.Reconcile(t.Context(), everyRequest); err != nil {
		t.Fatal(err)
	}
	if got := b.requested(); len(got) != 0 {
		t.Errorf("enqueues %q although nothing is needed", got)
	}
	b.reports(status{})
	if _, err := b.Reconcile(t.Context(), everyRequest); err != nil {
		t.Fatal(err)
	}
	if got := b.requested(); !slices.Equal(got, []string{"/" + cluster}) {
		t.Errorf("enqueues %q, want the cluster that has an object", got)
	}
}

func TestTheEventIsEmittedAgainAfterTheCRDWasServed(t *testing.T) {
	b := newBench(t)
	for _, step := range []struct {
		state  State
		events int
	}{{Absent, 2}, {Absent, 0}, {Served, 0}, {Absent, 2}} {
		b.state = step.state
		if _, err := b.Reconcile(t.Context(), reconcile.Request{NamespacedName: everyCluster}); err != nil {
			t.Fatal(err)
		}
		b.reconcile(t)
		if got := len(b.events); got != step.events {
			t.Errorf("state %d: %d events, want %d", step.state, got, step.events)
		}
		for len(b.events) > 0 {
			<-b.events
		}
	}
}

func TestInformerTriggersOnRelevantChanges(t *testing.T) {
	object := func(generation int64, served metav1.ConditionStatus) *facts {
		return &facts{
			ObjectMeta: metav1.ObjectMeta{UID: "1", Generation: generation},
			Status:     status{APIs: []dependencyv1alpha1.APIFact{servedFact(served)}},
		}
	}
	for name, test := range map[string]struct {
		old, updated *facts
		want         bool
	}{
		"Created": {nil, object(1, "True"), true},
		"Deleted": {object(1, "True"), nil, true},
		"Touched": {object(1, "True"), object(2, "True"), false},
		"Status":  {object(1, "True"), object(1, "False"), true},
	} {
		if got := hasChanged(test.old, test.updated); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestHubWithoutTheCRD(t *testing.T) {
	b := newBench(t)
	b.state = Absent
	b.reconcile(t)
	b.reconcile(t)
	if len(b.applies) != 0 {
		t.Error("requests facts although no agent can report any")
	}
	if enqueued := b.evaluated(); !slices.Equal(enqueued, []string{clusterAddOn("api"), clusterAddOn("version")}) {
		t.Errorf("enqueues %v", enqueued)
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
	b.state = Unknown
	b.reconcile(t)
	if enqueued := b.evaluated(); len(b.applies)+len(enqueued)+len(b.events) != 0 {
		t.Errorf("did something before anything is known: %v, %v", b.applies, enqueued)
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
