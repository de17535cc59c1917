package protection

import (
	"context"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/factsobject"
)

// factsByAgents returns the facts of managed clusters for a decision that cannot wait. They are read once, when they are
// first needed.
func (v *fleetReviewer) factsByAgents(ctx context.Context) func(cluster string) (evaluation.Facts, error) {
	read := sync.OnceValues(func() (map[string]*dependencyv1alpha1.ManagedClusterFacts, error) { return v.listFacts(ctx) })
	return func(cluster string) (evaluation.Facts, error) {
		all, err := read()
		return storedFacts{object: all[cluster]}.known(), err
	}
}

// listFacts returns the ManagedClusterFacts of the fleet, by managed cluster.
func (v *fleetReviewer) listFacts(ctx context.Context) (map[string]*dependencyv1alpha1.ManagedClusterFacts, error) {
	var objects dependencyv1alpha1.ManagedClusterFactsList
	switch err := v.live.List(ctx, &objects, fromCache()); {
	case meta.IsNoMatchError(err), apierrors.IsNotFound(err): // no agent can report
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("list ManagedClusterFacts: %w", err)
	}
	facts := make(map[string]*dependencyv1alpha1.ManagedClusterFacts, len(objects.Items))
	for i := range objects.Items {
		if object := &objects.Items[i]; factsobject.Key(object.Namespace).Name == object.Name {
			facts[object.Namespace] = object
		}
	}
	return facts, nil
}
