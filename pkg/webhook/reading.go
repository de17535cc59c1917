package webhook

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
)

const (
	// readPause is the time between two checks whether the caches are filled.
	readPause = 50 * time.Millisecond
	// readLogEvery is how often the log says that they are not.
	readLogEvery = 15 * time.Second
)

var errNotRead = errors.New("the ClusterManagementAddOns, AddOnTemplates and AddOnDependencyPolicies of the hub have not been read yet")

// reading fills the cache with the objects that reviews read, and reports when it has all of them. A replica that is not ready gets no
// requests from its Service, so each replica that gets some refuses contradictions.
type reading struct {
	cache cache.Cache
	done  atomic.Bool
}

// reviewed are the kinds that reviews read from the cache.
func reviewed() []client.Object {
	return []client.Object{&addonv1alpha1.ClusterManagementAddOn{}, &addonv1alpha1.AddOnTemplate{}, &dependencyv1alpha1.AddOnDependencyPolicy{}}
}

// Start implements manager.Runnable.
func (r *reading) Start(ctx context.Context) error {
	logAt := time.Now().Add(readLogEvery)
	for _, object := range reviewed() {
		// The only other end is that of the context.
		_ = wait.PollUntilContextCancel(ctx, readPause, true, func(ctx context.Context) (bool, error) {
			read, err := r.isRead(ctx, object)
			if !read && time.Now().After(logAt) {
				logAt = time.Now().Add(readLogEvery)
				log.FromContext(ctx).Info("Waiting for the hub: "+errNotRead.Error(), "reason", err)
			}
			return read, nil
		})
	}
	if ctx.Err() == nil {
		r.done.Store(true)
	}
	return nil
}

// isRead reports whether the cache has all objects of a kind. There is none of a kind that the hub does not serve: it is cached once it
// is served and read.
func (r *reading) isRead(ctx context.Context, object client.Object) (bool, error) {
	informer, err := r.cache.GetInformer(ctx, object, cache.BlockUntilSynced(false))
	if meta.IsNoMatchError(err) {
		return true, nil
	}
	return err == nil && informer.HasSynced(), err
}

// NeedLeaderElection implements manager.LeaderElectionRunnable: every replica reviews.
func (*reading) NeedLeaderElection() bool { return false }

// check is a readiness check.
func (r *reading) check(*http.Request) error {
	if !r.done.Load() {
		return errNotRead
	}
	return nil
}
