// Package warmup fills the cache of a manager, and reports whether it is filled.
package warmup

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// logEvery is the interval of log lines about a hub that does not respond yet.
const logEvery = 15 * time.Second

var errNotSynced = errors.New("the cache of the hub's add-ons has not synced yet")

// Warmup fills a cache in every replica, so that the next leader has all objects.
//
// It starts after the manager has started its caches. If an informer existed before, the
// manager would wait for the hub at its start, and could not be stopped meanwhile.
type Warmup struct {
	// Cache is filled with objects of these kinds.
	Cache   cache.Cache
	Objects []client.Object
	// Prepare is called first, unless it is nil.
	Prepare func(context.Context, cache.Cache) error
	// Hub is the hub's name in the log. Waiting is the log message while the hub does not respond.
	Hub, Waiting string

	begun, synced chan struct{}
	logEvery      time.Duration
}

// New returns a warm-up for a manager to run.
func New(w Warmup) *Warmup {
	w.begun, w.synced, w.logEvery = make(chan struct{}), make(chan struct{}), logEvery
	return &w
}

// Begun returns a channel that is closed when the cache can be read. Before, reads fail.
func (w *Warmup) Begun() <-chan struct{} { return w.begun }

// Synced returns a channel that is closed when the cache has all objects.
func (w *Warmup) Synced() <-chan struct{} { return w.synced }

// Start implements manager.Runnable.
func (w *Warmup) Start(ctx context.Context) error {
	if w.Prepare != nil {
		if err := w.Prepare(ctx, w.Cache); err != nil {
			return fmt.Errorf("prepare the cache: %w", err)
		}
	}
	for _, object := range w.Objects {
		if _, err := w.Cache.GetInformer(ctx, object, cache.BlockUntilSynced(false)); err != nil {
			return fmt.Errorf("cache %T: %w", object, err)
		}
	}
	close(w.begun)
	go w.logWaiting(ctx)
	if w.Cache.WaitForCacheSync(ctx) {
		close(w.synced)
	}
	<-ctx.Done()
	return nil
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (w *Warmup) NeedLeaderElection() bool { return false }

// Check is a readiness check, which passes when the cache has all objects.
func (w *Warmup) Check(*http.Request) error {
	select {
	case <-w.synced:
		return nil
	default:
		return errNotSynced
	}
}

// logWaiting logs the Waiting message until the hub responds, because client-go logs
// nothing about an API server that refuses connections.
func (w *Warmup) logWaiting(ctx context.Context) {
	_ = wait.PollUntilContextCancel(ctx, w.logEvery, false, func(context.Context) (ready bool, err error) {
		if w.Check(nil) == nil {
			return true, nil
		}
		log.FromContext(ctx).Info(w.Waiting+" -v=2 logs more", "hub", w.Hub)
		return false, nil
	})
}
