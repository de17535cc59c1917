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
	// fillCheckInterval is the time between two checks whether the cache is filled.
	fillCheckInterval = 50 * time.Millisecond
	// fillLogInterval is the time between two log lines while it is not.
	fillLogInterval = 15 * time.Second
)

var errNotRead = errors.New("the ClusterManagementAddOns, AddOnTemplates and AddOnDependencyPolicies of the hub have not been read yet")

// cacheFiller fills the cache with the objects that reviews read, and is ready when the cache has all of them. A replica that is not
// ready gets no requests from its Service. So each replica that gets requests can refuse contradictions.
type cacheFiller struct {
	cache  cache.Cache
	filled atomic.Bool
}

// cachedKinds returns an object of each kind that reviews read from the cache.
func cachedKinds() []client.Object {
	return []client.Object{
		&addonv1alpha1.ClusterManagementAddOn{}, &addonv1alpha1.AddOnTemplate{}, &dependencyv1alpha1.AddOnDependencyPolicy{},
	}
}

// Start implements manager.Runnable.
func (f *cacheFiller) Start(ctx context.Context) error {
	nextLog := time.Now().Add(fillLogInterval)
	for _, object := range cachedKinds() {
		// An error only means that the context has ended.
		_ = wait.PollUntilContextCancel(ctx, fillCheckInterval, true, func(ctx context.Context) (bool, error) {
			synced, err := f.isSynced(ctx, object)
			if !synced && time.Now().After(nextLog) {
				nextLog = time.Now().Add(fillLogInterval)
				log.FromContext(ctx).Info("Waiting for the hub: "+errNotRead.Error(), "reason", err)
			}
			return synced, nil
		})
	}
	if ctx.Err() == nil {
		f.filled.Store(true)
	}
	return nil
}

// isSynced reports whether the cache has all objects of a kind. It is true for a kind that the hub does not serve: the kind has no
// objects yet.
func (f *cacheFiller) isSynced(ctx context.Context, object client.Object) (bool, error) {
	informer, err := f.cache.GetInformer(ctx, object, cache.BlockUntilSynced(false))
	if meta.IsNoMatchError(err) {
		return true, nil
	}
	return err == nil && informer.HasSynced(), err
}

// NeedLeaderElection implements manager.LeaderElectionRunnable: every replica reviews.
func (*cacheFiller) NeedLeaderElection() bool { return false }

// check is a readiness check.
func (f *cacheFiller) check(*http.Request) error {
	if !f.filled.Load() {
		return errNotRead
	}
	return nil
}
