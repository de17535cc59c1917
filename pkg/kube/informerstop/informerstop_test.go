package informerstop

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// TestInformerEndsWhileRefused tests an informer whose API server refuses connections. It
// sleeps longer each time, in the end for many seconds. The caller must not wait for that.
func TestInformerEndsWhileRefused(t *testing.T) {
	const refusalsBeforeLongSleep = 4 // sleeps of 0.8, 1.6 and 3.2 s and up to twice that lie behind it
	refused := make(chan struct{}, 100)
	refuse := func() error {
		refused <- struct{}{}
		return fmt.Errorf("dial: %w", syscall.ECONNREFUSED)
	}
	away := &cache.ListWatch{
		ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) { return nil, refuse() },
		WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) {
			return nil, refuse()
		},
	}
	informer := NewInformer(away, &corev1.ConfigMap{}, 0, nil)
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		informer.Run(stop)
		close(ended)
	}()
	for range refusalsBeforeLongSleep {
		await(t, refused, "a refusal")
	}
	close(stop)
	select {
	case <-ended:
	case <-time.After(3 * time.Second): // the sleep takes 6.4 s at least
		t.Fatal("the informer did not end when it was stopped")
	}
}

func TestRunEndsWithItsFunction(t *testing.T) {
	ended := make(chan struct{})
	go func() {
		Run(context.Background(), func(context.Context) {})
		close(ended)
	}()
	await(t, ended, "the end")
}

func TestRunPassesItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("stop")
	seen := make(chan error, 1)
	cancel(cause)
	Run(ctx, func(ctx context.Context) { seen <- context.Cause(ctx) })
	if got := <-seen; !errors.Is(got, cause) {
		t.Errorf("cause of the end is %v, want %v", got, cause)
	}
}

func await(t *testing.T, happened <-chan struct{}, event string) {
	t.Helper()
	select {
	case <-happened:
	case <-time.After(time.Minute):
		t.Fatalf("%s did not happen", event)
	}
}
