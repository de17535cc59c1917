package protection

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/semaphore"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
)

// reviewer has what reviews read.
type reviewer struct {
	live, cache client.Reader
	declared    *declarations
	discovery   discovery
	// lifecycle knows whether upgrades can wait; nil: none does.
	lifecycle lifecycle
	// mode counts where no policy sets one.
	mode dependencyv1alpha1.Protection
	now  func() time.Time
	// reads lets few reviews at a time read, however many are requested.
	reads *semaphore.Weighted
	// waits is how long a review waits for others.
	waits time.Duration
}

// lifecycle knows whether an addon-manager that leads runs with --lifecycle.
type lifecycle interface {
	// Require returns leadership.ErrNoLifecycle unless it does.
	Require(ctx context.Context) error
}

// begin waits for a turn to read, and returns what is declared. done ends the turn.
func (r reviewer) begin(ctx context.Context) (under declared, done func(), err error) {
	waiting, cancel := context.WithTimeout(ctx, r.waits)
	defer cancel()
	if err := r.reads.Acquire(waiting, 1); err != nil {
		return declared{}, nil, fmt.Errorf("wait for other reviews: %w", err)
	}
	if under, err = r.declared.under(ctx); err != nil {
		r.reads.Release(1)
		return declared{}, nil, err
	}
	return under, func() { r.reads.Release(1) }, nil
}

// beginProtected is begin where protection is on anywhere. Else done is nil, and nothing need be read.
func (r reviewer) beginProtected(ctx context.Context) (under declared, done func(), err error) {
	if under, done, err = r.begin(ctx); err != nil {
		return declared{}, nil, err
	}
	if r.mode == dependencyv1alpha1.ProtectionOff && !under.policies.Protects() {
		done()
		return declared{}, nil, nil
	}
	return under, done, nil
}

// modeOf returns what is done on a managed cluster, and the policies that set it.
func (r reviewer) modeOf(under declared, cluster *clusterv1.ManagedCluster) (dependencyv1alpha1.Protection, []string) {
	protected := under.policies.Protected(cluster.Labels)
	return cmp.Or(protected.Is, r.mode), protected.Policies
}

// readCluster returns a managed cluster as it is, without its add-ons, and a review of it that has found nothing yet. ok is
// false where nothing is to be reviewed: the cluster is being detached, or protection is off there.
func (r reviewer) readCluster(ctx context.Context, under declared, name string) (is clusterReader, review found, ok bool, err error) {
	if is, ok, err = r.attachedCluster(ctx, name); !ok {
		return clusterReader{}, found{}, false, err
	}
	if review.mode, review.by = r.modeOf(under, is.cluster); review.mode == dependencyv1alpha1.ProtectionOff {
		return clusterReader{}, found{}, false, nil
	}
	return is, review, true, nil
}

// attachedCluster returns a managed cluster as it is, without its add-ons. ok is false for one that does not exist or is
// being detached.
func (r reviewer) attachedCluster(ctx context.Context, name string) (is clusterReader, ok bool, err error) {
	objects := fleet.Objects{Reader: r.live}
	cluster, err := objects.Cluster(ctx, name)
	if err != nil || cluster == nil || !cluster.DeletionTimestamp.IsZero() {
		return clusterReader{}, false, err
	}
	now := r.now()
	stored := r.factsOf(ctx, name)
	return clusterReader{
		Objects: objects, templates: fleet.Objects{Reader: r.cache}, cluster: cluster, now: now, stored: stored,
		facts: func() (evaluation.Facts, error) {
			facts, err := stored()
			return facts.awaiting(now), err
		},
	}, true, nil
}

// finding reads an add-on on a managed cluster.
func (r reviewer) finding(ctx context.Context, cluster string) finding {
	return func(name string) (*addonv1alpha1.ManagedClusterAddOn, error) {
		return fleet.Objects{Reader: r.live}.AddOn(ctx, client.ObjectKey{Namespace: cluster, Name: name})
	}
}

// maxGets is how many add-ons of a managed cluster are read one by one. To list all takes less than to read more.
const maxGets = 2

// among returns those of the named add-ons that are on a managed cluster.
func (r reviewer) among(ctx context.Context, cluster string, addOnNames []string) (addOns, error) {
	if len(addOnNames) > maxGets {
		return r.installed(ctx, cluster)
	}
	on, find := addOns{}, r.finding(ctx, cluster)
	for _, name := range addOnNames {
		one, err := find(name)
		if err != nil {
			return nil, err
		}
		if one != nil {
			on[name] = one
		}
	}
	return on, nil
}

// installed returns the add-ons on a managed cluster.
func (r reviewer) installed(ctx context.Context, cluster string) (addOns, error) {
	var all addonv1alpha1.ManagedClusterAddOnList
	if err := r.live.List(ctx, &all, client.InNamespace(cluster)); err != nil {
		return nil, fmt.Errorf("list the add-ons of %s: %w", cluster, err)
	}
	named := make(addOns, len(all.Items))
	for i := range all.Items {
		named[all.Items[i].Name] = &all.Items[i]
	}
	return named, nil
}
