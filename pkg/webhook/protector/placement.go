package protector

import (
	"context"
	"fmt"

	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	eventsof "open-cluster-management.io/interlock/pkg/kube/events"
	"open-cluster-management.io/interlock/pkg/text"
)

// PlacementPath is the path for reviews of Placements.
const PlacementPath = "/protect-placement"

// PlacementValidator reviews Placements that are deleted, or that select other managed clusters: OCM then removes the add-ons that they
// install. It only warns of another selection, because OCM decides on it.
type PlacementValidator struct{ *fleetReviewer }

var _ admission.Handler = &PlacementValidator{}

// Handle implements admission.Handler.
func (v *PlacementValidator) Handle(ctx context.Context, request admission.Request) admission.Response {
	ctx, cancel := context.WithTimeout(ctx, fleetReviewTimeout)
	defer cancel()
	concern := fmt.Sprintf("add-ons require what Placement '%s' installs", text.Name(request.Name))
	oldPlacement, newPlacement := &clusterv1beta1.Placement{}, &clusterv1beta1.Placement{}
	if err := decodeBoth(request, oldPlacement, newPlacement); err != nil {
		return allowUnchecked(concern, err)
	}
	var review outcome
	var err error
	switch request.Operation {
	case admissionv1.Delete:
		review, err = v.reviewDeletion(ctx, oldPlacement)
	case admissionv1.Update:
		review, err = v.reviewSelection(ctx, oldPlacement, newPlacement)
	default:
		return admission.Allowed("")
	}
	return v.respond(request, review, concern, err)
}

// reviewDeletion reviews the deletion of a Placement.
func (v *PlacementValidator) reviewDeletion(ctx context.Context, placement *clusterv1beta1.Placement) (outcome, error) {
	key := client.ObjectKeyFromObject(placement)
	placed, err := v.declarations.placedBy(ctx, key)
	if err != nil || len(placed) == 0 || !placement.DeletionTimestamp.IsZero() {
		return outcome{}, err
	}
	evaluator, release, err := v.beginProtected(ctx)
	if err != nil || release == nil {
		return outcome{}, err
	}
	defer release()
	var stored clusterv1beta1.Placement
	if err := v.live.Get(ctx, key, &stored); err != nil {
		return outcome{}, client.IgnoreNotFound(err)
	}
	clusters, err := v.solelySelected(ctx, evaluator, key, placed)
	if err != nil {
		return outcome{}, err
	}
	review, err := v.reviewRemovals(ctx, evaluator, removals{
		addOns:  placed,
		removes: func(addOn, cluster string) bool { return clusters[addOn].Has(cluster) },
	})
	review.object, review.kind = &stored, eventsof.Placement
	review.kubectlArgs = fmt.Sprintf("placement %s -n %s", key.Name, key.Namespace)
	review.subject = fmt.Sprintf("deleting Placement '%s' removes what it installs, and", key)
	review.forceReason = stored.Annotations[addonv1alpha1.ForceAnnotation]
	return review, err
}

// solelySelected returns the managed clusters on which no other Placement installs an add-on, for each add-on that the Placement
// installs.
func (v *PlacementValidator) solelySelected(
	ctx context.Context, evaluator policyEvaluator, placement types.NamespacedName, placed []string,
) (map[string]sets.Set[string], error) {
	selected, _, err := v.readSelection(ctx, placement)
	if err != nil {
		return nil, err
	}
	clusters := map[string]sets.Set[string]{}
	otherSelections := map[types.NamespacedName]sets.Set[string]{placement: {}}
	for _, addOn := range placed {
		clusters[addOn] = selected
		for _, key := range evaluator.Install(addOn).Placements {
			if otherSelections[key] == nil {
				if otherSelections[key], _, err = v.readSelection(ctx, key); err != nil {
					return nil, err
				}
			}
			clusters[addOn] = clusters[addOn].Difference(otherSelections[key])
		}
	}
	return clusters, nil
}

// readSelection returns the managed clusters that a Placement selects. A Placement that does not exist selects none, even while its
// PlacementDecisions are not deleted yet: OCM skips it. The bool is false if the Placement has no PlacementDecision yet.
func (v *fleetReviewer) readSelection(ctx context.Context, placement types.NamespacedName) (sets.Set[string], bool, error) {
	clusters := sets.New[string]()
	var stored clusterv1beta1.Placement
	switch err := v.live.Get(ctx, placement, &stored); {
	case apierrors.IsNotFound(err):
		return clusters, false, nil
	case err != nil:
		return nil, false, fmt.Errorf("read Placement %s: %w", placement, err)
	}
	var decisions clusterv1beta1.PlacementDecisionList
	if err := v.live.List(ctx, &decisions, client.InNamespace(placement.Namespace),
		client.MatchingLabels{clusterv1beta1.PlacementLabel: placement.Name}); err != nil {
		return nil, false, fmt.Errorf("list what Placement %s selects: %w", placement, err)
	}
	for i := range decisions.Items {
		for _, decision := range decisions.Items[i].Status.Decisions {
			clusters.Insert(decision.ClusterName)
		}
	}
	return clusters, len(decisions.Items) > 0, nil
}
