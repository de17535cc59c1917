// Package informerstop lets a process end at once. A reflector of client-go does not: in
// client-go 0.35 (watchList in tools/cache/reflector.go) a reflector whose connection was
// refused sleeps for up to a minute, also when its context ends. A process that has to
// stop while its API server is down would be killed before it has released its lease.
package informerstop

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
)

// Run calls run, and returns when run does or the context ends. In the latter case run
// may still sleep, but it does nothing else.
func Run(ctx context.Context, run func(context.Context)) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		run(ctx)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
	}
}

// NewInformer is an option of controller-runtime's cache, which ends when its informers
// have ended.
func NewInformer(lw cache.ListerWatcher, object runtime.Object, resync time.Duration, indexers cache.Indexers) cache.SharedIndexInformer {
	return informer{cache.NewSharedIndexInformer(lw, object, resync, indexers)}
}

type informer struct{ cache.SharedIndexInformer }

// RunWithContext implements cache.SharedInformer.
func (i informer) RunWithContext(ctx context.Context) { Run(ctx, i.SharedIndexInformer.RunWithContext) }

// Run implements cache.SharedInformer.
func (i informer) Run(stop <-chan struct{}) { i.RunWithContext(wait.ContextForChannel(stop)) }
