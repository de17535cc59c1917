package protector

import (
	"context"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/fleet/factsobject"
)

// lazyFleetFacts returns a function for the facts of each managed cluster, for a decision that cannot wait. It lists the facts of the
// fleet when it is first called.
func (v *fleetReviewer) lazyFleetFacts(ctx context.Context) func(cluster string) (evaluation.Facts, error) {
	list := sync.OnceValues(func() (map[string]*dependencyv1alpha1.ManagedClusterFacts, error) { return v.listFacts(ctx) })
	return func(cluster string) (evaluation.Facts, error) {
		facts, err := list()
		return storedFacts{object: facts[cluster]}.lastReported(), err
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

// lazyOCMVersion returns an ocmVersion that reads the version of OCM when it is first called.
func (v *fleetReviewer) lazyOCMVersion() ocmVersion {
	type result struct {
		version string
		read    bool
		err     error
	}
	var once sync.Once
	var stored result
	return func(ctx context.Context) (string, bool, error) {
		once.Do(func() { stored.version, stored.read, stored.err = fleet.Objects{Reader: v.live}.OCMVersion(ctx) })
		return stored.version, stored.read, stored.err
	}
}
