package protection

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
	eventsof "open-cluster-management.io/interlock/pkg/events"
	"open-cluster-management.io/interlock/pkg/text"
)

// PlacementPath is the path at which Placements are reviewed that are deleted or changed.
const PlacementPath = "/protect-placement"

// PlacementValidator reviews Placements that are deleted, or that select other managed clusters: OCM then removes the add-ons that they
// install. Another selection is only warned of, because OCM decides on it.
type PlacementValidator struct{ *fleetReviewer }

var _ admission.Handler = &PlacementValidator{}

// Handle implements admission.Handler.
func (v *PlacementValidator) Handle(ctx context.Context, request admission.Request) admission.Response {
	ctx, cancel := context.WithTimeout(ctx, answerForFleetWithin)
	defer cancel()
	what := fmt.Sprintf("add-ons require what Placement '%s' installs", text.Name(request.Name))
	before, after := &clusterv1beta1.Placement{}, &clusterv1beta1.Placement{}
	if err := read(request, before, after); err != nil {
		return unchecked(what, err)
	}
	var review found
	var err error
	switch request.Operation {
	case admissionv1.Delete:
		review, err = v.review(ctx, before)
	case admissionv1.Update:
		review, err = v.reviewSelection(ctx, before, after)
	default:
		return admission.Allowed("")
	}
	return v.respond(request, review, what, err)
}

// review finds what the deletion of a Placement would break.
func (v *PlacementValidator) review(ctx context.Context, placement *clusterv1beta1.Placement) (found, error) {
	key := client.ObjectKeyFromObject(placement)
	placed, err := v.declared.placedBy(ctx, key)
	if err != nil || len(placed) == 0 || !placement.DeletionTimestamp.IsZero() {
		return found{}, err
	}
	under, done, err := v.beginProtected(ctx)
	if done == nil {
		return found{}, err
	}
	defer done()
	var stored clusterv1beta1.Placement
	if err := v.live.Get(ctx, key, &stored); err != nil {
		return found{}, client.IgnoreNotFound(err)
	}
	from, err := v.onlyBy(ctx, under, key, placed)
	if err != nil {
		return found{}, err
	}
	review, err := v.reviewFleet(ctx, under, removals{placed, func(addOn, cluster string) bool { return from[addOn].Has(cluster) }})
	review.object, review.kind, review.forced = &stored, eventsof.Placement, stored.Annotations[addonv1alpha1.ForceAnnotation]
	review.named = fmt.Sprintf("placement %s -n %s", key.Name, key.Namespace)
	review.does = fmt.Sprintf("deleting Placement '%s' removes what it installs, and", key)
	return review, err
}

// onlyBy returns the managed clusters that only a Placement selects, for each of the add-ons that it installs.
func (v *PlacementValidator) onlyBy(
	ctx context.Context, under declared, placement types.NamespacedName, placed []string,
) (map[string]sets.Set[string], error) {
	its, _, err := v.selected(ctx, placement)
	if err != nil {
		return nil, err
	}
	from, selects := map[string]sets.Set[string]{}, map[types.NamespacedName]sets.Set[string]{placement: {}}
	for _, addOn := range placed {
		from[addOn] = its
		for _, other := range under.Install(addOn).Placements {
			if selects[other] == nil {
				if selects[other], _, err = v.selected(ctx, other); err != nil {
					return nil, err
				}
			}
			from[addOn] = from[addOn].Difference(selects[other])
		}
	}
	return from, nil
}

// selected returns the managed clusters that a Placement selects. OCM skips one that does not exist, also while its
// PlacementDecisions are not deleted yet. decided is false where nothing has selected yet.
func (v *fleetReviewer) selected(ctx context.Context, placement types.NamespacedName) (clusters sets.Set[string], decided bool, err error) {
	clusters = sets.New[string]()
	var exists clusterv1beta1.Placement
	switch err := v.live.Get(ctx, placement, &exists); {
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
		for _, one := range decisions.Items[i].Status.Decisions {
			clusters.Insert(one.ClusterName)
		}
	}
	return clusters, len(decisions.Items) > 0, nil
}
