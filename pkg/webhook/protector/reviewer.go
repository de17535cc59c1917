package protector

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/semaphore"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/condition/gate"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/kube/leadership"
)

// reviewer reads the objects that reviews need.
type reviewer struct {
	live, cache  client.Reader
	declarations *declarations
	discovery    discovery
	// lifecycle reports whether upgrades can wait. Without it, none waits.
	lifecycle lifecycle
	// mode applies to managed clusters for which no policy sets a mode.
	mode dependencyv1alpha1.Protection
	now  func() time.Time
	// reads bounds how many reviews read at the same time.
	reads *semaphore.Weighted
	// maxWait is how long a review waits for others.
	maxWait time.Duration
}

// lifecycle reports whether the addon-manager that leads runs with --lifecycle.
type lifecycle interface {
	// Require returns leadership.ErrNoLifecycle if no addon-manager with --lifecycle leads.
	Require(ctx context.Context) error
}

// upgradesWait reports whether other AddOnTemplates of an add-on wait on each cluster until their requirements are satisfied there.
// A change is not refused for such a requirement, because waiting can satisfy it.
func (r reviewer) upgradesWait(ctx context.Context, evaluator policyEvaluator, addOn string) (bool, error) {
	if r.lifecycle == nil || !gate.OrdersUpgrades(evaluator.Declaration(addOn)) {
		return false, nil
	}
	err := r.lifecycle.Require(ctx)
	if errors.Is(err, leadership.ErrNoLifecycle) {
		return false, nil
	}
	return err == nil, err
}

// begin waits until the review may read, and returns the evaluator. The caller ends its reads with the returned function.
func (r reviewer) begin(ctx context.Context) (policyEvaluator, func(), error) {
	waiting, cancel := context.WithTimeout(ctx, r.maxWait)
	defer cancel()
	if err := r.reads.Acquire(waiting, 1); err != nil {
		return policyEvaluator{}, nil, fmt.Errorf("wait for other reviews: %w", err)
	}
	evaluator, err := r.declarations.load(ctx)
	if err != nil {
		r.reads.Release(1)
		return policyEvaluator{}, nil, err
	}
	return evaluator, func() { r.reads.Release(1) }, nil
}

// beginProtected is begin for a review that only protection needs. Where protection is off on all clusters, the returned function is
// nil, and the review need not read anything.
func (r reviewer) beginProtected(ctx context.Context) (policyEvaluator, func(), error) {
	evaluator, release, err := r.begin(ctx)
	if err != nil {
		return policyEvaluator{}, nil, err
	}
	if r.mode == dependencyv1alpha1.ProtectionOff && !evaluator.policies.Protects() {
		release()
		return policyEvaluator{}, nil, nil
	}
	return evaluator, release, nil
}

// modeOf returns the mode of protection on a managed cluster, and the policies that set it.
func (r reviewer) modeOf(evaluator policyEvaluator, cluster *clusterv1.ManagedCluster) (dependencyv1alpha1.Protection, []string) {
	protected := evaluator.policies.Protected(cluster.Labels)
	return cmp.Or(protected.Value, r.mode), protected.Policies
}

// clusterReview is the review of one managed cluster that has begun.
type clusterReview struct {
	// cluster has no add-ons yet.
	cluster clusterReader
	// outcome has the mode, and no message yet.
	outcome outcome
}

// beginCluster begins the review of a managed cluster. The bool is false for a cluster that needs none: it is being detached, or
// protection is off there.
func (r reviewer) beginCluster(ctx context.Context, evaluator policyEvaluator, name string) (clusterReview, bool, error) {
	cluster, attached, err := r.attachedCluster(ctx, name)
	if err != nil || !attached {
		return clusterReview{}, false, err
	}
	mode, policies := r.modeOf(evaluator, cluster.managedCluster)
	if mode == dependencyv1alpha1.ProtectionOff {
		return clusterReview{}, false, nil
	}
	return clusterReview{cluster, outcome{mode: mode, policies: policies}}, true, nil
}

// attachedCluster returns a managed cluster without its add-ons. The bool is false for a cluster that does not exist or is being
// detached.
func (r reviewer) attachedCluster(ctx context.Context, name string) (clusterReader, bool, error) {
	objects := fleet.Objects{Reader: r.live}
	cluster, err := objects.Cluster(ctx, name)
	if err != nil || cluster == nil || !cluster.DeletionTimestamp.IsZero() {
		return clusterReader{}, false, err
	}
	now := r.now()
	stored := r.lazyFacts(ctx, name)
	return clusterReader{
		Objects:        objects,
		templates:      fleet.Objects{Reader: r.cache},
		managedCluster: cluster,
		now:            now,
		stored:         stored,
		facts: func() (evaluation.Facts, error) {
			facts, err := stored()
			return facts.awaitingReports(now), err
		},
	}, true, nil
}

// maxGets is how many add-ons of a managed cluster are read one by one. One list takes less than more single reads.
const maxGets = 2

// readNamedAddOns returns the add-ons on a managed cluster. It may leave out those without one of the names.
func (r reviewer) readNamedAddOns(ctx context.Context, cluster string, addOnNames []string) (addOns, error) {
	if len(addOnNames) > maxGets {
		return r.readAddOns(ctx, cluster)
	}
	installed := addOns{}
	for _, name := range addOnNames {
		addOn, err := r.readAddOn(ctx, cluster, name)
		if err != nil {
			return nil, err
		}
		if addOn != nil {
			installed[name] = addOn
		}
	}
	return installed, nil
}

// readAddOn returns an add-on on a managed cluster. It returns nil if the add-on is not installed.
func (r reviewer) readAddOn(ctx context.Context, cluster, name string) (*addonv1alpha1.ManagedClusterAddOn, error) {
	return fleet.Objects{Reader: r.live}.AddOn(ctx, client.ObjectKey{Namespace: cluster, Name: name})
}

// readAddOns returns all add-ons on a managed cluster.
func (r reviewer) readAddOns(ctx context.Context, cluster string) (addOns, error) {
	var list addonv1alpha1.ManagedClusterAddOnList
	if err := r.live.List(ctx, &list, client.InNamespace(cluster)); err != nil {
		return nil, fmt.Errorf("list the add-ons of %s: %w", cluster, err)
	}
	installed := make(addOns, len(list.Items))
	for i := range list.Items {
		installed[list.Items[i].Name] = &list.Items[i]
	}
	return installed, nil
}
