package protector

import (
	"context"
	"errors"
	"fmt"
	"slices"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet/placement"
	eventsof "open-cluster-management.io/interlock/pkg/kube/events"
	"open-cluster-management.io/interlock/pkg/text"
)

// reviewSelection reviews another selection of a Placement: its new predicates, cluster sets or tolerations no longer select managed
// clusters that it has selected. Add-ons there may need the add-ons that it installs. It only warns.
func (v *PlacementValidator) reviewSelection(ctx context.Context, oldPlacement, newPlacement *clusterv1beta1.Placement) (outcome, error) {
	key := client.ObjectKeyFromObject(newPlacement)
	if equality.Semantic.DeepEqual(oldPlacement.Spec, newPlacement.Spec) || !newPlacement.DeletionTimestamp.IsZero() {
		return outcome{}, nil
	}
	placed, err := v.declarations.placedBy(ctx, key)
	if err != nil || len(placed) == 0 {
		return outcome{}, err
	}
	evaluator, release, err := v.beginProtected(ctx)
	if err != nil || release == nil {
		return outcome{}, err
	}
	defer release()
	var list clusterv1.ManagedClusterList
	if err := v.live.List(ctx, &list, fromCache()); err != nil {
		return outcome{}, fmt.Errorf("list managed clusters: %w", err)
	}
	deselected, err := v.deselectedClusters(oldPlacement, newPlacement, list.Items)
	if err != nil || len(deselected) == 0 {
		return outcome{}, err
	}
	clusters, err := v.solelySelected(ctx, evaluator, key, placed)
	if err != nil {
		return outcome{}, err
	}
	review, err := v.reviewRemovals(ctx, evaluator, removals{
		addOns:  placed,
		removes: func(addOn, cluster string) bool { return clusters[addOn].Has(cluster) && deselected.Has(cluster) },
	})
	review.mode, review.object, review.kind = dependencyv1alpha1.ProtectionWarn, newPlacement, eventsof.Placement
	review.subject = fmt.Sprintf("Placement '%s' no longer selects all clusters on which it installs add-ons, which", key)
	return review, err
}

// deselectedClusters returns the managed clusters that the old state of a Placement selects, and the new state does not.
func (v *PlacementValidator) deselectedClusters(
	oldPlacement, newPlacement *clusterv1beta1.Placement, clusters []clusterv1.ManagedCluster,
) (sets.Set[string], error) {
	oldSelection, oldErr := v.evaluatePlacement(oldPlacement, clusters)
	newSelection, newErr := v.evaluatePlacement(newPlacement, clusters)
	return oldSelection.Difference(newSelection), errors.Join(oldErr, newErr)
}

// evaluatePlacement returns the managed clusters that a Placement can select. It finds cluster sets by the labels of the clusters, so
// that the webhook needs no right to read ManagedClusterSets.
func (v *fleetReviewer) evaluatePlacement(
	evaluated *clusterv1beta1.Placement, clusters []clusterv1.ManagedCluster,
) (sets.Set[string], error) {
	candidates := placement.Fleet{Clusters: clusters, Now: v.now()}
	candidates.Sets, candidates.Bound = placement.SetsByLabel(clusters)
	selection, err := placement.Select(evaluated, candidates)
	if err != nil {
		return nil, fmt.Errorf("find what Placement %s selects: %w", client.ObjectKeyFromObject(evaluated), err)
	}
	return sets.New(selection.Clusters...), nil
}

// ClusterPath is the path for reviews of ManagedClusters.
const ClusterPath = "/protect-managedcluster"

// ClusterValidator reviews labels of ManagedClusters: OCM removes the add-ons of a Placement that no longer selects the cluster. It
// only warns.
type ClusterValidator struct{ *fleetReviewer }

var _ admission.Handler = &ClusterValidator{}

// Handle implements admission.Handler.
func (v *ClusterValidator) Handle(ctx context.Context, request admission.Request) admission.Response {
	if request.Operation != admissionv1.Update {
		return admission.Allowed("")
	}
	ctx, cancel := context.WithTimeout(ctx, reviewTimeout)
	defer cancel()
	concern := fmt.Sprintf("add-ons require what Placements install on cluster '%s'", text.Name(request.Name))
	oldCluster, newCluster := &clusterv1.ManagedCluster{}, &clusterv1.ManagedCluster{}
	if err := decodeBoth(request, oldCluster, newCluster); err != nil {
		return allowUnchecked(concern, err)
	}
	review, err := v.review(ctx, oldCluster, newCluster)
	return v.respond(request, review, concern, err)
}

// review reviews other labels of a managed cluster. Placements that install add-ons there may no longer select it.
func (v *ClusterValidator) review(ctx context.Context, oldCluster, newCluster *clusterv1.ManagedCluster) (outcome, error) {
	if equality.Semantic.DeepEqual(oldCluster.Labels, newCluster.Labels) || !newCluster.DeletionTimestamp.IsZero() {
		return outcome{}, nil
	}
	evaluator, release, err := v.beginProtected(ctx)
	if err != nil || release == nil {
		return outcome{}, err
	}
	defer release()
	removed, err := v.deselectedAddOns(ctx, evaluator, oldCluster, newCluster)
	if err != nil || len(removed) == 0 {
		return outcome{}, err
	}
	review, err := v.reviewRemovals(ctx, evaluator, removals{
		addOns:  sets.List(removed),
		removes: func(addOn, cluster string) bool { return removed.Has(addOn) && cluster == newCluster.Name },
	})
	review.mode, review.object, review.kind = dependencyv1alpha1.ProtectionWarn, newCluster, eventsof.ManagedCluster
	review.subject = fmt.Sprintf("with these labels, Placements no longer select cluster '%s', which", text.Name(newCluster.Name))
	return review, err
}

// deselectedAddOns returns the add-ons that have dependents, and whose Placements no longer select the cluster.
func (v *ClusterValidator) deselectedAddOns(
	ctx context.Context, evaluator policyEvaluator, oldCluster, newCluster *clusterv1.ManagedCluster,
) (sets.Set[string], error) {
	addOns, selections := sets.New[string](), map[types.NamespacedName]labelSelection{}
	for _, addOn := range evaluator.AddOns() {
		install := evaluator.Install(addOn)
		if !install.Placed || len(evaluator.Dependents(addOn)) == 0 {
			continue
		}
		for _, key := range install.Placements {
			if _, ok := selections[key]; ok {
				continue
			}
			selection, err := v.selectByLabels(ctx, key, oldCluster, newCluster)
			if err != nil {
				return nil, err
			}
			selections[key] = selection
		}
		selectsOld := slices.ContainsFunc(install.Placements, func(key types.NamespacedName) bool { return selections[key].selectsOld })
		selectsNew := slices.ContainsFunc(install.Placements, func(key types.NamespacedName) bool { return selections[key].selectsNew })
		if selectsOld && !selectsNew {
			addOns.Insert(addOn)
		}
	}
	return addOns, nil
}

// labelSelection reports whether a Placement selects a managed cluster with its old labels, and with its new labels.
type labelSelection struct{ selectsOld, selectsNew bool }

func (v *ClusterValidator) selectByLabels(
	ctx context.Context, key types.NamespacedName, oldCluster, newCluster *clusterv1.ManagedCluster,
) (labelSelection, error) {
	stored := &clusterv1beta1.Placement{}
	if err := v.live.Get(ctx, key, stored); err != nil {
		return labelSelection{}, client.IgnoreNotFound(err)
	}
	oldSelection, oldErr := v.evaluatePlacement(stored, []clusterv1.ManagedCluster{*oldCluster})
	newSelection, newErr := v.evaluatePlacement(stored, []clusterv1.ManagedCluster{*newCluster})
	return labelSelection{oldSelection.Has(oldCluster.Name), newSelection.Has(newCluster.Name)}, errors.Join(oldErr, newErr)
}
