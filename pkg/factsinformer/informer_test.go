package factsinformer

import (
	"context"
	"errors"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
)

var (
	notFound  = apierrors.NewNotFound(dependencyv1alpha1.Resource.GroupResource(), "")
	forbidden = apierrors.NewForbidden(dependencyv1alpha1.Resource.GroupResource(), "", errors.New("no"))
	errDown   = errors.New("connection refused")
)

// awaiting returns an informer of a hub that responds to lists with these errors, one
// after the other, and then with success.
func awaiting(t *testing.T, options Options, responses ...error) (informer *Informer, lists *int) {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := dependencyv1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	lists = new(int)
	hub := interceptor.NewClient(fake.NewClientBuilder().WithScheme(scheme).Build(), interceptor.Funcs{
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
			*lists++
			if *lists <= len(responses) {
				return responses[*lists-1]
			}
			return nil
		},
	})
	return New(hub, options), lists
}

func TestWaitsForTheAPI(t *testing.T) {
	for _, test := range []struct {
		name      string
		responses []error
		confirm   time.Duration
		turned    []State
	}{
		{name: "served at once"},
		{name: "served later", responses: []error{notFound, notFound, notFound, notFound}, turned: []State{Absent}},
		{name: "no right at first", responses: []error{forbidden, forbidden, notFound}, turned: []State{Absent}},
		{name: "a hub that starts", responses: []error{errDown, forbidden, notFound}},
		{name: "a hub that is down", responses: []error{errDown}},
		{name: "a hub that takes long to start", responses: []error{forbidden, forbidden, forbidden}, confirm: time.Hour},
		{name: "a hub that dies while it starts", responses: []error{notFound, notFound, errDown, notFound}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var turned []State
			informer, lists := awaiting(t, Options{
				RetryLast: time.Second, Turned: func(state State) { turned = append(turned, state) },
			}, test.responses...)
			informer.confirm = test.confirm
			if !informer.awaitServed(t.Context()) {
				t.Fatal("does not notice that the API is served")
			}
			if *lists != len(test.responses)+1 {
				t.Errorf("%d lists", *lists)
			}
			if len(turned) != len(test.turned) || len(turned) > 0 && turned[0] != test.turned[0] {
				t.Errorf("states %v, want %v", turned, test.turned)
			}
			if informer.Get(types.NamespacedName{Name: "c"}) != nil || informer.List() != nil {
				t.Error("has objects before it has read any")
			}
		})
	}
}

func TestEndsWhileItWaits(t *testing.T) {
	informer, _ := awaiting(t, Options{RetryLast: time.Hour}, notFound, notFound, notFound)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- informer.Start(ctx) }()
	stop()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("does not end with the context")
	}
}

func TestReportsChangesOnly(t *testing.T) {
	var calls int
	informer := New(nil, Options{Changed: func(_, _ *Facts) { calls++ }})
	object := func(version string) *Facts {
		return &Facts{ObjectMeta: metav1.ObjectMeta{Name: "c", ResourceVersion: version}}
	}
	informer.changed(nil, object("1"))
	informer.changed(object("1"), object("1")) // listed again
	informer.changed(object("1"), object("2"))
	informer.changed(object("2"), nil)
	if calls != 3 {
		t.Errorf("%d calls", calls)
	}
}
