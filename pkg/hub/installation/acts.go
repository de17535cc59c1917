package installation

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/policy"
)

// acts reports whether Interlock installs and removes add-ons on a managed cluster; nil: it is gone. It does not while an add-on there
// could not be assessed.
func (r *Reconciler) acts(cluster *clusterv1.ManagedCluster, policies policy.Set) bool {
	return cluster != nil && r.FirstPass.Await(cluster.Name, r.Changed, Key) && meta.IsStatusConditionTrue(cluster.Status.Conditions, clusterv1.ManagedClusterConditionAvailable) &&
		policies.Installs(cluster.Labels).Is != dependencyv1alpha1.InstallDeny
}

// actsNow reports whether Interlock acts on a managed cluster at this moment. A plan is carried out one write after the other, and
// meanwhile a policy may deny the rest, or the cluster may be lost.
func (r *Reconciler) actsNow(ctx context.Context, cluster string) (bool, error) {
	stated, err := r.Policies(ctx)
	if err != nil {
		return false, err
	}
	found, err := r.Inputs.Cluster(ctx, cluster)
	if err != nil || found == nil || !found.DeletionTimestamp.IsZero() {
		return false, err
	}
	return r.acts(found, policy.Read(stated)), nil
}

// recheck takes back what is decided by a PlacementDecision for managed clusters on which Interlock does not act any more.
func (r *Reconciler) recheck(ctx context.Context, of *placed, decision string) error {
	for _, cluster := range slices.Concat(of.added, of.dropped) {
		if slices.Contains(of.stored[decision], cluster) == slices.Contains(of.decided[decision], cluster) {
			continue
		}
		switch acts, err := r.actsNow(ctx, cluster); {
		case err != nil:
			return err
		case !acts:
			of.takeBack(decision, cluster)
		}
	}
	return nil
}

// takeBack leaves a managed cluster in a PlacementDecision as it is stored.
func (p *placed) takeBack(decision, cluster string) {
	stored, decided := p.stored[decision], p.decided[decision]
	if !slices.Contains(stored, cluster) {
		p.decided[decision] = slices.DeleteFunc(slices.Clone(decided), func(one string) bool { return one == cluster })
		return
	}
	// In the order of what is stored: no other order is a change.
	p.decided[decision] = slices.DeleteFunc(slices.Clone(stored), func(one string) bool {
		return one != cluster && !slices.Contains(decided, one)
	})
	for _, one := range decided {
		if !slices.Contains(stored, one) {
			p.decided[decision] = append(p.decided[decision], one)
		}
	}
}
