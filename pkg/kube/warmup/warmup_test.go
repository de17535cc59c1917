package warmup

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// responding is a cache of a hub that responds when the channel is closed.
type responding struct {
	cache.Cache
	hub    chan struct{}
	filled []string
}

func (c *responding) GetInformer(_ context.Context, object client.Object, _ ...cache.InformerGetOption) (cache.Informer, error) {
	if object == nil {
		return nil, errors.New("no kind")
	}
	c.filled = append(c.filled, "informer")
	return nil, nil
}

func (c *responding) WaitForCacheSync(ctx context.Context) bool {
	select {
	case <-c.hub:
		return true
	case <-ctx.Done():
		return false
	}
}

func newWarmup(objects ...client.Object) (*Warmup, *responding) {
	hubCache := &responding{hub: make(chan struct{})}
	w := New(Warmup{
		Cache:   hubCache,
		Objects: objects,
		Hub:     "https://hub:6443",
		Waiting: "Waiting for the hub.",
		Prepare: func(context.Context, cache.Cache) error {
			hubCache.filled = append(hubCache.filled, "prepared")
			return nil
		},
	})
	w.logEvery = time.Millisecond
	return w, hubCache
}

func TestReadyAfterHubResponds(t *testing.T) {
	w, hubCache := newWarmup(&addonv1alpha1.ManagedClusterAddOn{})
	lines := make(chan string, 1000)
	logger := funcr.New(func(_, line string) {
		select {
		case lines <- line:
		default:
		}
	}, funcr.Options{})
	ctx, cancel := context.WithCancel(log.IntoContext(t.Context(), logger))
	ended := make(chan error, 1)
	go func() { ended <- w.Start(ctx) }()
	<-w.Begun()
	if want := []string{"prepared", "informer"}; !slices.Equal(hubCache.filled, want) {
		t.Errorf("can be read after %q, want %q", hubCache.filled, want)
	}
	for range 2 {
		if line := <-lines; !strings.Contains(line, "Waiting for the hub") || !strings.Contains(line, w.Hub) {
			t.Errorf("logged %s", line)
		}
	}
	if err := w.Check(nil); !errors.Is(err, errNotSynced) {
		t.Errorf("ready before it has synced: %v", err)
	}
	close(hubCache.hub)
	<-w.Synced()
	if err := w.Check(nil); err != nil {
		t.Errorf("not ready: %v", err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestStartEndsWithoutHub(t *testing.T) {
	w, _ := newWarmup()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.Start(ctx); err != nil || w.Check(nil) == nil {
		t.Errorf("error %v, ready: %t", err, w.Check(nil) == nil)
	}
}

func TestStartReturnsErrors(t *testing.T) {
	w, _ := newWarmup(nil)
	if err := w.Start(t.Context()); err == nil {
		t.Error("no error")
	}
	w.Prepare = func(context.Context, cache.Cache) error { return errors.New("no index") }
	if err := w.Start(t.Context()); err == nil {
		t.Error("no error")
	}
}
