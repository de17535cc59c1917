package facts

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/kube/trigger"
	"open-cluster-management.io/interlock/test/runnable"
	"open-cluster-management.io/interlock/test/triggertest"
)

const patience = time.Minute

var (
	notFound = apierrors.NewNotFound(dependencyv1alpha1.Resource.GroupResource(), "")
	key      = types.NamespacedName{Namespace: "c", Name: "c"}
)

// observed is the state of an informer as its users see it.
type observed struct {
	state   State
	objects int
	exists  bool
}

// started returns an informer of a hub with one object. The hub does not serve the object while
// refuses is true, and no longer serves it after the informer has read it. The channel gets each
// state of the informer.
func started(t *testing.T, refuses *atomic.Bool) <-chan observed {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := dependencyv1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	watches := make(chan *watch.FakeWatcher, 100)
	hub := interceptor.NewClient(fake.NewClientBuilder().WithScheme(scheme).WithObjects(&facts{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name},
	}).Build(), interceptor.Funcs{
		List: func(ctx context.Context, hub client.WithWatch, list client.ObjectList, _ ...client.ListOption) error {
			if refuses.Load() {
				return notFound
			}
			return hub.List(ctx, list)
		},
		Watch: func(_ context.Context, _ client.WithWatch, _ client.ObjectList, options ...client.ListOption) (watch.Interface, error) {
			if raw := (&client.ListOptions{}).ApplyOptions(options).Raw; raw.SendInitialEvents != nil {
				return nil, errors.New("not supported")
			}
			if refuses.Load() {
				return nil, notFound
			}
			w := watch.NewFake()
			watches <- w
			return w, nil
		},
	})
	seen := make(chan observed, 100)
	informer := NewInformer(hub, trigger.New())
	queue := triggertest.NewQueue(t)
	if err := informer.request.Source().Start(t.Context(), queue); err != nil {
		t.Fatal(err)
	}
	go func() {
		for request, ended := queue.Get(); !ended; request, ended = queue.Get() {
			queue.Done(request)
			if request.NamespacedName != everyCluster {
				continue
			}
			seen <- observed{informer.State(), len(informer.List()), informer.Get(key) != nil}
			if informer.State() == Served { // the API is taken away, which ends the watch
				refuses.Store(true)
				(<-watches).Stop()
			}
		}
	}()
	informer.confirm = 0
	runnable.Start(t, informer.Start)
	return seen
}

func TestFollowsWhetherTheAPIIsServed(t *testing.T) {
	var refuses atomic.Bool
	refuses.Store(true)
	changes := started(t, &refuses)
	for i, want := range []observed{{state: Absent}, {state: Served, objects: 1, exists: true}, {state: Absent}} {
		select {
		case got := <-changes:
			if got != want {
				t.Fatalf("change %d: %+v, want %+v", i+1, got, want)
			}
		case <-time.After(patience):
			t.Fatalf("no change %d", i+1)
		}
		if i == 0 {
			refuses.Store(false)
		}
	}
}

func TestKnowsNothingBeforeItIsStarted(t *testing.T) {
	informer := NewInformer(nil, trigger.New())
	if informer.Get(key) != nil || informer.List() != nil || informer.State() != Unknown {
		t.Error("knows something before it has read anything")
	}
}
