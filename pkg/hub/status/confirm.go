package status

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/availability"
	"open-cluster-management.io/interlock/pkg/dependency/condition/gate"
	"open-cluster-management.io/interlock/pkg/dependency/condition/outcome"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/hub/assess"
	"open-cluster-management.io/interlock/pkg/hub/declarations"
)

// confirm compares the catalog with the API server before a write that cannot be reverted, because the caches of declarations and of
// add-ons have different watches. Where they differ, the next catalog triggers another decision.
func (r *Reconciler) confirm(ctx context.Context, subject *assessedAddOn, decision outcome.Decision) (bool, error) {
	confirmed := true
	var err error
	degraded := decision.Condition(addonv1alpha1.ManagedClusterAddOnConditionDegraded)
	if degraded != nil && len(subject.assessment.Findings) == 0 {
		variant := subject.evaluator.Variant(subject.key.Name, subject.state)
		confirmed, err = r.undeclared.confirm(ctx, r.Live, subject.key.Name, variant, subject.assessedAt)
	}
	if confirmed && err == nil && decision.Open {
		confirmed, err = r.confirmGate(ctx, subject)
	}
	if confirmed && err == nil && overwritesLoss(subject.stored, decision) {
		confirmed, err = r.confirmReturn(ctx, subject.key.Namespace)
	}
	if confirmed && err == nil && releases(decision) {
		confirmed, err = r.confirmUpgrade(ctx, subject)
	}
	return confirmed, err
}

// confirmGate compares the registration of the add-on, and the AddOnTemplate that OCM is about to install.
func (r *Reconciler) confirmGate(ctx context.Context, subject *assessedAddOn) (bool, error) {
	isCurrent, err := declarations.Current(ctx, r.Live, subject.evaluator, subject.key.Name)
	if err != nil || !isCurrent {
		return false, err
	}
	return declarations.CurrentTemplate(ctx, r.Live, subject.evaluator, assess.Chosen(subject.addOn))
}

// confirmUpgrade compares the AddOnTemplate whose wait ends.
func (r *Reconciler) confirmUpgrade(ctx context.Context, subject *assessedAddOn) (bool, error) {
	exists, err := declarations.TemplateExists(ctx, r.Live, subject.stored.Waiting)
	if err != nil || !exists {
		return false, err
	}
	return declarations.CurrentTemplate(ctx, r.Live, subject.evaluator, subject.stored.Waiting)
}

// overwritesLoss reports whether the decision replaces the loss of the managed cluster in Available of a bundle.
func overwritesLoss(stored outcome.Stored, decision outcome.Decision) bool {
	available := decision.Condition(addonv1alpha1.ManagedClusterAddOnConditionAvailable)
	return available != nil && availability.ClusterLost(stored.Available)
}

// confirmReturn reports whether the managed cluster is not lost according to the API server. The cache of managed clusters may be behind
// the cache of add-ons, and OCM's hub sets Available again only after the next change of the managed cluster.
func (r *Reconciler) confirmReturn(ctx context.Context, name string) (bool, error) {
	var clusters clusterv1.ManagedClusterList
	if err := r.Live.List(ctx, &clusters, declarations.Named(name)); err != nil {
		return false, fmt.Errorf("read whether managed cluster %s is lost: %w", name, err)
	}
	return !slices.ContainsFunc(clusters.Items, func(cluster clusterv1.ManagedCluster) bool {
		return cluster.Name == name && fleet.ClusterStatus(&cluster) == metav1.ConditionUnknown
	}), nil
}

// releases reports whether an AddOnTemplate no longer waits because its dependencies are satisfied.
func releases(decision outcome.Decision) bool {
	upgradable := decision.Condition(addonv1alpha1.ManagedClusterAddOnConditionUpgradable)
	return upgradable != nil && upgradable.Status == metav1.ConditionTrue && upgradable.Reason == gate.ReasonSatisfied
}
