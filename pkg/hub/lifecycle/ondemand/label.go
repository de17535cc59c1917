package ondemand

import (
	"context"
	"fmt"

	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/plan/installation"
	"open-cluster-management.io/interlock/pkg/fleet"
)

// loadLimit sets whether as many managed clusters have the label as the owner's Placement can select. reader is the cache, or
// before a step the API server.
func loadLimit(ctx context.Context, reader client.Reader, evaluator *evaluation.Evaluator, s *subject) error {
	limit := evaluator.Labeled(s.key.Name).Limit()
	if !s.ByLabel || s.Labeled || limit <= 0 {
		return nil
	}
	var labeled clusterv1.ManagedClusterList
	label := client.HasLabels{catalog.InstallLabel(s.key.Name)}
	if err := reader.List(ctx, &labeled, label, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list managed clusters with the label of %s: %w", s.key.Name, err)
	}
	s.Full = len(labeled.Items) >= limit
	return nil
}

// label sets or withdraws the label of the managed cluster. If another writer sets it too, the label and the add-on stay.
func (r *Reconciler) label(ctx context.Context, s *subject, decision *installation.Decision) error {
	stays, err := r.applyLabel(ctx, s, decision.Step == installation.Install)
	if err != nil {
		return err
	}
	now := r.Clock.Now()
	r.fleet.begin(s.key.Namespace, now)
	logger := log.FromContext(ctx).WithValues("cluster", s.key.Namespace, "addOn", s.key.Name)
	switch {
	case decision.Step == installation.Install:
		r.Metrics.Installed(s.key.Name)
		r.emitInstalls(s)
		logger.Info("Label of ManagedCluster set, by which an add-on is installed that others need")
		labeled := decision.Desired.Labeled(now)
		return r.storeAgain(ctx, s, &labeled)
	case stays:
		kept := decision.Desired.Kept(now)
		return r.storeAgain(ctx, s, &kept)
	default:
		r.Metrics.Removed(s.key.Name)
		r.emitRemoves(s)
		logger.Info("Label of ManagedCluster withdrawn, because no other add-on needs what it installs any more")
	}
	return nil
}

// applyLabel applies or withdraws the label on the managed cluster with the UID of the decision. It returns whether the
// managed cluster has the label afterwards.
func (r *Reconciler) applyLabel(ctx context.Context, s *subject, set bool) (bool, error) {
	cluster := fleet.Unlabeled(s.key.Namespace, s.ClusterUID)
	if set {
		cluster = fleet.Labeled(s.key.Namespace, s.ClusterUID, s.key.Name)
	}
	if err := r.Writer.Apply(ctx, client.ApplyConfigurationFromUnstructured(cluster), fleet.InstallOwner(s.key.Name)); err != nil {
		return false, fmt.Errorf("apply the label of %s to ManagedCluster %s: %w", s.key.Name, s.key.Namespace, err)
	}
	return fleet.HasInstallLabel(cluster, s.key.Name), nil
}
