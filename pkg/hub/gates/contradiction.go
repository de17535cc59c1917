package gates

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/gate"
	"open-cluster-management.io/interlock/pkg/dependency/protection"
)

// decideContradiction decides on the gate of an add-on that OCM has created, and that contradicted installed add-ons then. state is
// that of the add-on, and order the decision by the order of installations. again is when to decide again without a cause; zero: never.
func (r *Reconciler) decideContradiction(
	ctx context.Context, declared *evaluation.Evaluator, addOn *addonv1alpha1.ManagedClusterAddOn, state evaluation.State, order gate.Decision,
) (decision gate.Decision, again time.Time, err error) {
	states := map[string]evaluation.State{addOn.Name: state}
	for _, name := range protection.MayBreak(declared.Catalog, addOn.Name) {
		key := types.NamespacedName{Namespace: addOn.Namespace, Name: name}
		installed, err := r.Fleet.AddOn(ctx, key)
		if err != nil {
			return gate.Decision{}, time.Time{}, err
		}
		if name == addOn.Name || installed == nil || !installed.DeletionTimestamp.IsZero() {
			continue
		}
		loaded, err := r.Loader.Load(ctx, declared, key, state.Cluster.Now)
		if err != nil {
			return gate.Decision{}, time.Time{}, err
		}
		states[name], _ = gate.Installing(declared.Catalog, loaded, addOn.Name) // that it is known was found by its own state
	}
	review := protection.ReviewInstallation(declared, addOn.Name, states)
	return gate.DecideContradiction(review.Contradicted.Message(addOn.Name), review.Known, order), review.Until, nil
}

// contradicting indexes, by cluster, the add-ons whose gate is closed because of a contradiction.
type contradicting struct {
	mutex     sync.Mutex
	byCluster map[string]map[types.NamespacedName]bool
}

func (c *contradicting) set(addOn types.NamespacedName, held bool) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if !held {
		delete(c.byCluster[addOn.Namespace], addOn)
		if len(c.byCluster[addOn.Namespace]) == 0 {
			delete(c.byCluster, addOn.Namespace)
		}
		return
	}
	if c.byCluster == nil {
		c.byCluster = map[string]map[types.NamespacedName]bool{}
	}
	if c.byCluster[addOn.Namespace] == nil {
		c.byCluster[addOn.Namespace] = map[types.NamespacedName]bool{}
	}
	c.byCluster[addOn.Namespace][addOn] = true
}

// on returns those on a cluster.
func (c *contradicting) on(cluster string) []types.NamespacedName {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return slices.Collect(maps.Keys(c.byCluster[cluster]))
}
