package protection

import (
	"context"
	"fmt"
	"maps"
	"slices"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/protection"
	eventsof "open-cluster-management.io/interlock/pkg/events"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/names"
	"open-cluster-management.io/interlock/pkg/text"
)

// reviewRemoval finds what the deletion of an add-on from a managed cluster would break. It reads as little as it can:
// first whether a dependent is installed there, and the add-on itself only for an event.
func (v *Validator) reviewRemoval(ctx context.Context, addOn *addonv1alpha1.ManagedClusterAddOn, by authenticationv1.UserInfo) (found, error) {
	if !addOn.DeletionTimestamp.IsZero() || addOn.Name == names.AgentAddOn {
		return found{}, nil
	}
	dependents, err := v.declared.dependents(ctx, addOn.Name)
	if err != nil || len(dependents) == 0 {
		return found{}, err
	}
	under, done, err := v.beginProtected(ctx)
	if done == nil {
		return found{}, err
	}
	defer done()
	dependents = under.dependentsOf([]string{addOn.Name})
	on, err := v.among(ctx, addOn.Namespace, under.read(dependents))
	if err != nil || !slices.ContainsFunc(dependents, on.stays) {
		return found{}, err
	}
	as, review, ok, err := v.readCluster(ctx, under, addOn.Namespace)
	if !ok {
		return found{}, err
	}
	as.addOns, as.hub = on, v.alternativesOfHub(ctx, under, dependents)
	broken, removed := protection.Broken{}, sets.New(addOn.Name)
	if err := as.breaks(ctx, under, removed, removed.Has, broken); err != nil || len(broken) == 0 {
		return found{}, err
	}
	review.request, review.object, review.kind = toRemove, addOn, eventsof.ManagedClusterAddOn
	if addOn.Annotations[addonv1alpha1.ForceAnnotation] != "" || ofOCM(by) { // an event has to be about what is stored
		stored, err := v.finding(ctx, addOn.Namespace)(addOn.Name)
		if err != nil || stored == nil || !stored.DeletionTimestamp.IsZero() { // another request has deleted it
			return found{}, err
		}
		review.object, review.forced = stored, stored.Annotations[addonv1alpha1.ForceAnnotation]
	}
	review.named = fmt.Sprintf("managedclusteraddon %s -n %s", addOn.Name, addOn.Namespace)
	review.does, review.message = removing(addOn.Name), broken.Message()
	return review, nil
}

// stays reports whether an add-on is installed, and not being deleted.
func (a addOns) stays(name string) bool { return a[name] != nil && a[name].DeletionTimestamp.IsZero() }

// begun returns the names without those of add-ons that OCM has not begun to install, because their gates are closed: nothing of them
// runs that could break. The subject of the request stays.
func (a addOns) begun(names []string, subject string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name != subject && a[name] != nil && fleet.GateClosed(a[name]) })
}

func removing(addOn string) string { return fmt.Sprintf("removing add-on '%s'", text.Name(addOn)) }

// breaks adds the edges of add-ons that stay on the cluster, and could not work without what is removed. leaves reports
// what the request removes altogether. Verdicts on a lost cluster are held, so that nothing breaks there.
func (s clusterReader) breaks(
	ctx context.Context, under declared, removed sets.Set[string], leaves func(addOn string) bool, into protection.Broken,
) error {
	before := s.without(func(name string) bool { return !s.addOns.stays(name) })
	after := before.without(leaves)
	for _, dependent := range under.dependentsOf(sets.List(removed)) {
		if after.addOns[dependent] == nil {
			continue
		}
		findings, err := after.findings(ctx, under, dependent)
		if err != nil {
			return err
		}
		taken, err := protection.Taken(dependent, removed, findings, func() ([]evaluation.Finding, error) {
			return before.findings(ctx, under, dependent)
		})
		if err != nil {
			return err
		}
		for edge := range taken {
			into.Add(edge, s.cluster.Name)
		}
	}
	return nil
}

// without returns the cluster without some of its add-ons.
func (s clusterReader) without(those func(addOn string) bool) clusterReader {
	s.addOns = maps.Clone(s.addOns)
	maps.DeleteFunc(s.addOns, func(name string, _ *addonv1alpha1.ManagedClusterAddOn) bool { return those(name) })
	return s
}

// findings returns the verdicts on the edges of an add-on.
func (s clusterReader) findings(ctx context.Context, under declared, addOn string) ([]evaluation.Finding, error) {
	state, err := s.state(ctx, under, addOn)
	if err != nil {
		return nil, err
	}
	return under.Evaluate(addOn, state), nil
}
