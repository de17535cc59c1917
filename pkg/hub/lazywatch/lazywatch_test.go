package lazywatch

import (
	"context"
	"errors"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	fcache "k8s.io/client-go/tools/cache/testing"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

const patient = 10 * time.Second

func config(name string) *addonv1alpha1.AddOnDeploymentConfig {
	return &addonv1alpha1.AddOnDeploymentConfig{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

func receive[T any](t *testing.T, from <-chan T, what string) (received T) {
	t.Helper()
	select {
	case received = <-from:
	case <-time.After(patient):
		t.Fatal("no " + what)
	}
	return received
}

func TestItWatchesOnceItIsEnabled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	source := fcache.NewFakeControllerSource()
	source.Add(config("first"))
	requested, synced, changed, ended := make(chan bool, 1), make(chan bool, 1), make(chan [2]bool, 10), make(chan error, 1)
	var watch *Watch
	watch = New(Options{
		What: "tested objects",
		Informer: func(ctx context.Context) (Informer, error) {
			requested <- true
			informer := cache.NewSharedIndexInformer(source, config(""), 0, cache.Indexers{})
			go informer.RunWithContext(ctx)
			return informer, nil
		},
		Changed: func(_ context.Context, before, after any) error {
			changed <- [2]bool{before != nil, after != nil}
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
	if got := receive(t, changed, "first object"); got != [2]bool{false, true} {
		t.Errorf("creation: %v", got)
	}
	source.Modify(config("first"))
	if got := receive(t, changed, "change"); got != [2]bool{true, true} {
		t.Errorf("change: %v", got)
	}
	source.Delete(config("first"))
	if got := receive(t, changed, "deletion"); got != [2]bool{true, false} {
		t.Errorf("deletion: %v", got)
	}
	cancel()
	if err := receive(t, ended, "end"); err != nil {
		t.Error(err)
	}
}

func TestItEndsBeforeItIsEnabled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := New(Options{}).Start(ctx); err != nil {
		t.Error(err)
	}
}

func TestTheErrorNamesWhatCannotBeWatched(t *testing.T) {
	broken := errors.New("no such kind")
	watch := New(Options{What: "tested objects", Informer: func(context.Context) (Informer, error) { return nil, broken }})
	watch.Enable()
	if err := watch.Start(t.Context()); !errors.Is(err, broken) || err.Error() != "watch tested objects: no such kind" {
		t.Error(err)
	}
}
