package lazywatch

import (
	"context"
	"errors"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	fcache "k8s.io/client-go/tools/cache/testing"
	ctrlcache "sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

const patient = 10 * time.Second

func config(name, annotation string) *addonv1alpha1.AddOnDeploymentConfig {
	return &addonv1alpha1.AddOnDeploymentConfig{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{"a": annotation}}}
}

// informers is a cache with the only method that watches call.
type informers struct {
	ctrlcache.Informers
	get func() (ctrlcache.Informer, error)
}

func (i informers) GetInformer(context.Context, client.Object, ...ctrlcache.InformerGetOption) (ctrlcache.Informer, error) {
	return i.get()
}

func receive[T any](t *testing.T, channel <-chan T, description string) (received T) {
	t.Helper()
	select {
	case received = <-channel:
	case <-time.After(patient):
		t.Fatal("no " + description)
	}
	return received
}

func TestItWatchesOnceItIsEnabled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	source := fcache.NewFakeControllerSource()
	source.Add(config("first", ""))
	requested, synced, changed, ended := make(chan bool, 1), make(chan bool, 1), make(chan string, 10), make(chan error, 1)
	lazy := informers{get: func() (ctrlcache.Informer, error) {
		requested <- true
		informer := cache.NewSharedIndexInformer(source, config("", ""), 0, cache.Indexers{})
		go informer.RunWithContext(ctx)
		return informer, nil
	}}
	var watch *Watch
	watch = New(lazy, Options{
		Resource: "tested objects",
		Changed: func(_ context.Context, old, updated client.Object) error {
			changed <- latest(old, updated).GetName()
			return errors.New("which is logged")
		},
		Synced: func(context.Context) error { synced <- watch.Ready(); return nil },
	})
	go func() { ended <- watch.Start(ctx) }()

	select {
	case <-requested:
		t.Fatal("it watches before it is enabled")
	case <-time.After(100 * time.Millisecond):
	}
	if watch.Ready() {
		t.Error("ready before it is enabled")
	}
	watch.Enable()
	watch.Enable()
	if !receive(t, synced, "sync") || !watch.Ready() {
		t.Error("synced before it was ready")
	}
	source.Modify(config("first", "")) // an unchanged object and the initial objects are no changes
	source.Add(config("second", ""))
	source.Modify(config("first", "changed"))
	source.Delete(config("second", ""))
	for _, want := range []string{"second", "first", "second"} {
		if got := receive(t, changed, "change of "+want); got != want {
			t.Errorf("%s has changed, want %s", got, want)
		}
	}
	cancel()
	if err := receive(t, ended, "end"); err != nil {
		t.Error(err)
	}
}

func TestItEndsBeforeItIsEnabled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := New(nil, Options{}).Start(ctx); err != nil {
		t.Error(err)
	}
}

func TestTheErrorNamesWhatCannotBeWatched(t *testing.T) {
	broken := errors.New("no such kind")
	watch := New(informers{get: func() (ctrlcache.Informer, error) { return nil, broken }}, Options{Resource: "tested objects"})
	watch.Enable()
	if err := watch.Start(t.Context()); !errors.Is(err, broken) || err.Error() != "watch tested objects: no such kind" {
		t.Error(err)
	}
}
