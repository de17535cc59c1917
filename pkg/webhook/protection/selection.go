package protection

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
	eventsof "open-cluster-management.io/interlock/pkg/events"
	"open-cluster-management.io/interlock/pkg/placement"
	"open-cluster-management.io/interlock/pkg/text"
)

// reviewSelection reviews another selection of a Placement: its new predicates, cluster sets or tolerations no longer select managed
// clusters that it has selected. Add-ons there that need its add-ons would break. It is never refused.
func (v *PlacementValidator) reviewSelection(ctx context.Context, before, after *clusterv1beta1.Placement) (found, error) {
	key := client.ObjectKeyFromObject(after)
	if equality.Semantic.DeepEqual(before.Spec, after.Spec) || !after.DeletionTimestamp.IsZero() {
		return found{}, nil
	}
	addOns, err := v.declared.placedBy(ctx, key)
	if err != nil || len(addOns) == 0 {
		return found{}, err
	}
	under, done, err := v.beginProtected(ctx)
	if done == nil {
		return found{}, err
	}
	defer done()
	var clusters clusterv1.ManagedClusterList
	if err := v.live.List(ctx, &clusters, fromCache()); err != nil {
		return found{}, fmt.Errorf("list managed clusters: %w", err)
	}
	deselected, err := v.deselected(before, after, clusters.Items)
	if err != nil || len(deselected) == 0 {
		return found{}, err
	}
	clustersOf, err := v.onlyBy(ctx, under, key, addOns)
	if err != nil {
		return found{}, err
	}
	review, err := v.reviewFleet(ctx, under, removals{addOns, func(addOn, cluster string) bool {
		return clustersOf[addOn].Has(cluster) && deselected.Has(cluster)
	}})
	review.mode, review.object, review.kind = dependencyv1alpha1.ProtectionWarn, after, eventsof.Placement
	review.does = fmt.Sprintf("Placement '%s' no longer selects all clusters on which it installs add-ons, which", key)
	return review, err
}

// deselected returns the managed clusters that a Placement selects in its state before, and not in that after.
func (v *PlacementValidator) deselected(before, after *clusterv1beta1.Placement, clusters []clusterv1.ManagedCluster) (sets.Set[string], error) {
	selectedBefore, errBefore := v.selection(before, clusters)
	selectedAfter, errAfter := v.selection(after, clusters)
	return selectedBefore.Difference(selectedAfter), errors.Join(errBefore, errAfter)
}

// selection returns the managed clusters among the given that a Placement can select. Sets of clusters are those that their labels
// name, which takes no right to read ManagedClusterSets.
func (v *fleetReviewer) selection(placed *clusterv1beta1.Placement, clusters []clusterv1.ManagedCluster) (sets.Set[string], error) {
	fleet := placement.Fleet{Clusters: clusters, Now: v.now()}
	fleet.Sets, fleet.Bound = placement.SetsByLabel(clusters)
	selection, err := placement.Select(placed, fleet)
	if err != nil {
		return nil, fmt.Errorf("find what Placement %s selects: %w", client.ObjectKeyFromObject(placed), err)
	}
	return sets.New(selection.Clusters...), nil
}

// ClusterPath is the path at which other labels of ManagedClusters are reviewed.
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
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	what := fmt.Sprintf("add-ons require what Placements install on cluster '%s'", text.Name(request.Name))
	before, after := &clusterv1.ManagedCluster{}, &clusterv1.ManagedCluster{}
	if err := read(request, before, after); err != nil {
		return unchecked(what, err)
	}
	review, err := v.review(ctx, before, after)
	return v.respond(request, review, what, err)
}

// review reviews other labels of a managed cluster, with which Placements that install add-ons there no longer select it.
func (v *ClusterValidator) review(ctx context.Context, before, after *clusterv1.ManagedCluster) (found, error) {
	if equality.Semantic.DeepEqual(before.Labels, after.Labels) || !after.DeletionTimestamp.IsZero() {
		return found{}, nil
	}
	under, done, err := v.beginProtected(ctx)
	if done == nil {
		return found{}, err
	}
	defer done()
	removed, err := v.deselectedAddOns(ctx, under, before, after)
	if err != nil || len(removed) == 0 {
		return found{}, err
	}
	review, err := v.reviewFleet(ctx, under, removals{sets.List(removed), func(addOn, cluster string) bool {
		return removed.Has(addOn) && cluster == after.Name
	}})
	review.mode, review.object, review.kind = dependencyv1alpha1.ProtectionWarn, after, eventsof.ManagedCluster
	review.does = fmt.Sprintf("with these labels, Placements no longer select cluster '%s', which", text.Name(after.Name))
	return review, err
}

// deselectedAddOns returns the add-ons that others depend on, and whose Placements no longer select the cluster.
func (v *ClusterValidator) deselectedAddOns(ctx context.Context, under declared, before, after *clusterv1.ManagedCluster) (sets.Set[string], error) {
	addOns, selections := sets.New[string](), map[types.NamespacedName]labelSelection{}
	for _, addOn := range under.AddOns() {
		install := under.Install(addOn)
		if !install.Placed || len(under.Dependents(addOn)) == 0 {
			continue
		}
		for _, key := range install.Placements {
			if _, ok := selections[key]; ok {
				continue
			}
			selection, err := v.selects(ctx, key, before, after)
			if err != nil {
				return nil, err
			}
			selections[key] = selection
		}
		selectedBefore := slices.ContainsFunc(install.Placements, func(key types.NamespacedName) bool { return selections[key].before })
		selectedAfter := slices.ContainsFunc(install.Placements, func(key types.NamespacedName) bool { return selections[key].after })
		if selectedBefore && !selectedAfter {
			addOns.Insert(addOn)
		}
	}
	return addOns, nil
}

// labelSelection says whether a Placement selects a managed cluster by its labels before a change, and after it.
type labelSelection struct{ before, after bool }

func (v *ClusterValidator) selects(ctx context.Context, key types.NamespacedName, before, after *clusterv1.ManagedCluster) (labelSelection, error) {
	stored := &clusterv1beta1.Placement{}
	if err := v.live.Get(ctx, key, stored); err != nil {
		return labelSelection{}, client.IgnoreNotFound(err)
	}
	selectedBefore, errBefore := v.selection(stored, []clusterv1.ManagedCluster{*before})
	selectedAfter, errAfter := v.selection(stored, []clusterv1.ManagedCluster{*after})
	return labelSelection{selectedBefore.Has(before.Name), selectedAfter.Has(after.Name)}, errors.Join(errBefore, errAfter)
}
