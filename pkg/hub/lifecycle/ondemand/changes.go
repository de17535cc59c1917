package ondemand

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/plan/installation"
	"open-cluster-management.io/interlock/pkg/hub/hubcache"
)

// oneChange is the time within which installations of an add-on on many managed clusters count as one change.
const oneChange = time.Hour

// recounted is the time after which numbers of the fleet are counted again. They are equal for all clusters, and counting
// reads all of them.
const recounted = time.Second

// changes are the numbers of managed clusters on which one change installs and removes an add-on.
type changes struct{ installations, removals int }

// counts are numbers of the fleet that are at most a second old. It is safe for concurrent use.
type counts struct {
	mutex    sync.Mutex
	clusters int
	counted  time.Time
	changes  map[string]countedChanges
}

// countedChanges are the changes of an add-on. growth is the value of missing.growth at that time.
type countedChanges struct {
	changes

	counted time.Time
	growth  int
}

// loadApproval sets whether a change of this number of managed clusters is approved.
func (r *Reconciler) loadApproval(ctx context.Context, evaluator *evaluation.Evaluator, s *subject, now time.Time) error {
	clusters, err := r.clusterCount(ctx, now)
	if err != nil {
		return err
	}
	changes, err := r.changes(ctx, s.key.Name, now)
	if err != nil {
		return err
	}
	install := evaluator.Install(s.key.Name)
	s.Approved = installation.Approved(changes.installations, clusters, install.Approved)
	s.RemovalApproved = installation.Approved(changes.removals, clusters, install.RemovalApproved)
	return nil
}

// clusterCount returns the number of managed clusters.
func (r *Reconciler) clusterCount(ctx context.Context, now time.Time) (int, error) {
	r.counts.mutex.Lock()
	defer r.counts.mutex.Unlock()
	if !r.counts.counted.IsZero() && now.Sub(r.counts.counted) < recounted {
		return r.counts.clusters, nil
	}
	var list clusterv1.ManagedClusterList
	if err := r.Inputs.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return 0, fmt.Errorf("list managed clusters: %w", err)
	}
	r.counts.clusters, r.counts.counted = len(list.Items), now
	return r.counts.clusters, nil
}

// changes counts the installations of the last hour, and those that are about to begin. It also counts unused add-ons,
// because all of them are removed after the delay. A change that reaches the fleet slowly counts as one change.
func (r *Reconciler) changes(ctx context.Context, addOn string, now time.Time) (changes, error) {
	r.counts.mutex.Lock()
	defer r.counts.mutex.Unlock()
	clusters, growth := r.missing.clusters(addOn)
	if last := r.counts.changes[addOn]; !last.counted.IsZero() && now.Sub(last.counted) < recounted && last.growth == growth {
		return last.changes, nil
	}
	var list dependencyv1alpha1.AddOnInstallationList
	if err := r.Objects.List(ctx, &list, client.MatchingFields{hubcache.IndexName: addOn}, client.UnsafeDisableDeepCopy); err != nil {
		return changes{}, fmt.Errorf("list AddOnInstallations of %s: %w", addOn, err)
	}
	installs, removals := sets.New(clusters...), 0
	for i := range list.Items {
		status := &list.Items[i].Status
		switch status.Phase {
		case dependencyv1alpha1.PhaseInstalling, dependencyv1alpha1.PhaseInstalled:
			if status.Since != nil && now.Sub(status.Since.Time) <= oneChange {
				installs.Insert(list.Items[i].Namespace)
			}
		case dependencyv1alpha1.PhaseUnused, dependencyv1alpha1.PhaseRemoving:
			removals++
		case dependencyv1alpha1.PhaseKept, dependencyv1alpha1.PhaseGivenUp: // nothing changes there
		}
	}
	if r.counts.changes == nil {
		r.counts.changes = map[string]countedChanges{}
	}
	r.counts.changes[addOn] = countedChanges{changes{installs.Len(), removals}, now, growth}
	return r.counts.changes[addOn].changes, nil
}
