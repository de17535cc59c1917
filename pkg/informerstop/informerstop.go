// Package informerstop lets a process end at once though client-go's reflectors
// do not: one that was refused a connection sleeps for up to a minute, and in
// client-go 0.35 (watchList in tools/cache/reflector.go) the end of its context
// does not wake it. A process that is told to stop while its API server is away
// would be killed before it has released its lease.
package informerstop

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
)

// Run calls run, which is to return when its context ends, and returns when it
// does, or when the context ends: run may then still sleep, but calls nobody.
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

// NewInformer is for the options of a cache of controller-runtime, which ends
// when its informers have.
func NewInformer(lw cache.ListerWatcher, object runtime.Object, resync time.Duration, indexers cache.Indexers) cache.SharedIndexInformer {
	return informer{cache.NewSharedIndexInformer(lw, object, resync, indexers)}
}

type informer struct{ cache.SharedIndexInformer }

// RunWithContext implements cache.SharedInformer.
func (i informer) RunWithContext(ctx context.Context) { Run(ctx, i.SharedIndexInformer.RunWithContext) }

// Run implements cache.SharedInformer.
func (i informer) Run(stop <-chan struct{}) { i.RunWithContext(wait.ContextForChannel(stop)) }
