package protection

import (
	"context"
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/util/sets"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/protection"
	eventsof "open-cluster-management.io/interlock/pkg/events"
	"open-cluster-management.io/interlock/pkg/names"
	"open-cluster-management.io/interlock/pkg/text"
)

// reviewRemoval finds what the deletion of an add-on from a managed cluster would break.
func (v *Validator) reviewRemoval(ctx context.Context, addOn *addonv1alpha1.ManagedClusterAddOn) (found, error) {
	if !addOn.DeletionTimestamp.IsZero() || addOn.Name == names.AgentAddOn {
		return found{}, nil
	}
	dependents, err := v.declared.dependents(ctx, addOn.Name)
	if err != nil || len(dependents) == 0 {
		return found{}, err
	}
	under, done, err := v.begin(ctx)
	if err != nil {
		return found{}, err
	}
	defer done()
	is, review, ok, err := v.readCluster(ctx, under, addOn.Namespace)
	stored := is.addOns[addOn.Name]
	if !ok || stored == nil { // or another request has deleted it
		return found{}, err
	}
	after := is
	after.addOns = maps.Clone(is.addOns)
	delete(after.addOns, addOn.Name)
	broken := protection.Broken{}
	if err := after.breaks(ctx, under, sets.New(addOn.Name), broken); err != nil {
		return found{}, err
	}
	review.request = toRemove
	review.object, review.kind, review.forced = stored, eventsof.ManagedClusterAddOn, stored.Annotations[addonv1alpha1.ForceAnnotation]
	review.named = fmt.Sprintf("managedclusteraddon %s -n %s", stored.Name, stored.Namespace)
	review.does, review.message = removing(stored.Name), broken.Message()
	return review, nil
}

func removing(addOn string) string { return fmt.Sprintf("removing add-on '%s'", text.Name(addOn)) }

// breaks adds the edges of add-ons that stay on the cluster, and could not work without what has been removed. Verdicts
// on a lost cluster are held, so that nothing breaks there.
func (s clusterReader) breaks(ctx context.Context, under declared, removed sets.Set[string], into protection.Broken) error {
	for _, dependent := range under.dependentsOf(sets.List(removed)) {
		if stays := s.addOns[dependent]; stays == nil || !stays.DeletionTimestamp.IsZero() {
			continue
		}
		state, err := s.state(ctx, under, dependent)
		if err != nil {
			return err
		}
		findings := under.Evaluate(dependent, state)
		for _, addOn := range sets.List(removed) {
			if protection.Requires(findings, addOn) {
				into.Add(protection.Edge{Dependent: dependent, Removed: addOn}, s.cluster.Name)
			}
		}
	}
	return nil
}
