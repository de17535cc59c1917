package installation

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/hub/hubcache"
)

// oneChange is within which time installations of an add-on on many managed clusters are one change.
const oneChange = time.Hour

// changes are on how many managed clusters one change installs an add-on, and removes it.
type changes struct{ installations, removals int }

// changes counts what began within the last hour, and what is about to begin. A change that reaches the fleet little by little is one.
func (r *Reconciler) changes(ctx context.Context, of types.NamespacedName, now time.Time) (changes, error) {
	var all dependencyv1alpha1.AddOnInstallationList
	if err := r.Inputs.List(ctx, &all, client.MatchingFields{hubcache.IndexName: of.Name}, client.UnsafeDisableDeepCopy); err != nil {
		return changes{}, fmt.Errorf("list AddOnInstallations of %s: %w", of.Name, err)
	}
	installs, removals := sets.New(r.wanted.clusters(of.Name)...), 0
	for i := range all.Items {
		status := &all.Items[i].Status
		switch status.Phase {
		case dependencyv1alpha1.PhaseInstalling, dependencyv1alpha1.PhaseInstalled:
			if status.Since != nil && now.Sub(status.Since.Time) <= oneChange {
				installs.Insert(all.Items[i].Namespace)
			}
		case dependencyv1alpha1.PhaseUnused, dependencyv1alpha1.PhaseRemoving:
			if status.UnusedSince != nil && now.Sub(status.UnusedSince.Time) >= r.RemovalDelay {
				removals++
			}
		}
	}
	return changes{installs.Len(), removals}, nil
}
