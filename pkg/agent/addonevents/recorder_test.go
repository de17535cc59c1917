package addonevents

import (
	"context"
	"errors"
	"testing"
	"time"

	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

var addOn = &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{
	Namespace: "cluster1", Name: "proxy", UID: "1234", ResourceVersion: "7",
}}

// newRecorder returns a recorder whose hub fails, or keeps the events.
func newRecorder(failure error) (*Recorder, *clocktesting.FakeClock, *[]*eventsv1.Event) {
	var created []*eventsv1.Event
	hub := fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
		Create: func(_ context.Context, _ client.WithWatch, object client.Object, _ ...client.CreateOption) error {
			created = append(created, object.(*eventsv1.Event))
			return failure
		},
	}).Build()
	clk := clocktesting.NewFakeClock(time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC))
	return NewRecorder(clk, hub, "cluster1"), clk, &created
}

func TestEachTransitionHasOwnEvent(t *testing.T) {
	recorder, clk, created := newRecorder(nil)
	names := map[string]bool{}
	for range 3 {
		recorder.Transition(t.Context(), addOn, metav1.Condition{Status: "False", Reason: "RequiredDependencyNotSatisfied", Message: "why"})
		clk.Step(time.Millisecond)
	}
	for _, event := range *created {
		names[event.Name] = true
		if event.Type != "Warning" || event.Reason != "RequiredDependencyNotSatisfied" || event.Note != "why" || event.Namespace != "cluster1" {
			t.Errorf("unexpected event %+v", event)
		}
		about := event.Regarding
		if about.Kind != "ManagedClusterAddOn" || about.UID != "1234" || about.APIVersion != "addon.open-cluster-management.io/v1alpha1" {
			t.Errorf("event is about %+v", event.Regarding)
		}
	}
	if len(names) != 3 {
		t.Errorf("%d events, want 3", len(names))
	}
}

func TestLastingStateIsEmittedAtIntervals(t *testing.T) {
	recorder, clk, created := newRecorder(nil)
	emit := func(want int, situation string) {
		t.Helper()
		recorder.Contested(t.Context(), addOn)
		recorder.Skewed(t.Context(), addOn, time.Hour)
		if len(*created) != want {
			t.Fatalf("%s: %d events, want %d", situation, len(*created), want)
		}
	}
	emit(2, "each reason for itself")
	clk.Step(repeatAfter - time.Second)
	emit(2, "too soon")
	clk.Step(time.Second)
	emit(4, "it still lasts")
	recorder.Forget(client.ObjectKeyFromObject(addOn))
	emit(6, "a new object")
}

func TestRecorderIgnoresRejectedEvents(t *testing.T) {
	recorder, _, created := newRecorder(errors.New("forbidden"))
	recorder.Transition(t.Context(), addOn, metav1.Condition{Status: "True", Reason: "ManagedClusterAddOnLeaseUpdated"})
	if len(*created) != 1 {
		t.Errorf("tried %d times", len(*created))
	}
}
