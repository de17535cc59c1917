package installation

import (
	"context"
	"fmt"

	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/installation"
	"open-cluster-management.io/interlock/pkg/fleet"
)

// loadLimit sets whether as many managed clusters have the label as the owner's Placement can select.
func (r *Reconciler) loadLimit(ctx context.Context, declared *evaluation.Evaluator, of *subject) error {
	limit := declared.Labeled(of.key.Name).Limit()
	if !of.ByLabel || of.Labeled || limit <= 0 {
		return nil
	}
	var labeled clusterv1.ManagedClusterList
	label := client.HasLabels{catalog.InstallLabel(of.key.Name)}
	if err := r.Inputs.List(ctx, &labeled, label, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list managed clusters with the label of %s: %w", of.key.Name, err)
	}
	of.Full = len(labeled.Items) >= limit
	return nil
}

// label sets or withdraws the label of the managed cluster. If another writer sets it too, the label and the add-on stay.
func (r *Reconciler) label(ctx context.Context, of *subject, decision *installation.Decision) error {
	stays, err := r.applyLabel(ctx, of, decision.Step == installation.Install)
	if err != nil {
		return err
	}
	now := r.Clock.Now()
	r.fleet.begin(of.key.Namespace, now)
	logger := log.FromContext(ctx).WithValues("cluster", of.key.Namespace, "addOn", of.key.Name)
	switch {
	case decision.Step == installation.Install:
		r.Metrics.Installed(of.key.Name)
		r.emitInstalls(of)
		logger.Info("Label of ManagedCluster set, by which an add-on is installed that others need")
	case stays:
		kept := decision.Desired.Kept(now)
		return r.store(ctx, of, &kept, conditionOf(installation.Decision{Desired: &kept}, now))
	default:
		r.Metrics.Removed(of.key.Name)
		r.emitRemoves(of)
		logger.Info("Label of ManagedCluster withdrawn, because no other add-on needs what it installs any more")
	}
	return nil
}

// applyLabel applies or withdraws the label on the managed cluster with the UID of the decision. It returns whether the
// managed cluster has the label afterwards.
func (r *Reconciler) applyLabel(ctx context.Context, of *subject, set bool) (bool, error) {
	cluster := fleet.Unlabeled(of.key.Namespace, of.ClusterUID)
	if set {
		cluster = fleet.Labeled(of.key.Namespace, of.ClusterUID, of.key.Name)
	}
	if err := r.Writer.Apply(ctx, client.ApplyConfigurationFromUnstructured(cluster), fleet.InstallOwner(of.key.Name)); err != nil {
		return false, fmt.Errorf("apply the label of %s to ManagedCluster %s: %w", of.key.Name, of.key.Namespace, err)
	}
	return fleet.HasInstallLabel(cluster, of.key.Name), nil
}
