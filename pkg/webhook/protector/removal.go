package protector

import (
	"context"
	"fmt"
	"maps"
	"slices"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/condition/protection"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
	eventsof "open-cluster-management.io/interlock/pkg/kube/events"
	"open-cluster-management.io/interlock/pkg/names"
	"open-cluster-management.io/interlock/pkg/text"
)

// reviewRemoval reviews the deletion of an add-on from a managed cluster. It reads as little as it can: first whether a dependent is
// installed there, and the add-on itself only for an event.
func (v *Validator) reviewRemoval(
	ctx context.Context, addOn *addonv1alpha1.ManagedClusterAddOn, user authenticationv1.UserInfo,
) (outcome, error) {
	if !addOn.DeletionTimestamp.IsZero() || addOn.Name == names.AgentAddOn {
		return outcome{}, nil
	}
	dependents, err := v.declarations.dependents(ctx, addOn.Name)
	if err != nil || len(dependents) == 0 {
		return outcome{}, err
	}
	evaluator, release, err := v.beginProtected(ctx)
	if err != nil || release == nil {
		return outcome{}, err
	}
	defer release()
	dependents = evaluator.dependentsOf([]string{addOn.Name})
	installed, err := v.readNamedAddOns(ctx, addOn.Namespace, evaluator.addOnsToRead(dependents))
	if err != nil || !slices.ContainsFunc(dependents, installed.stays) {
		return outcome{}, err
	}
	begun, ok, err := v.beginCluster(ctx, evaluator, addOn.Namespace)
	if err != nil || !ok {
		return outcome{}, err
	}
	cluster, review := begun.cluster, begun.outcome
	cluster.addOns, cluster.hubAPIs = installed, v.lazyAlternativeAPIs(ctx, evaluator, dependents)
	broken, removed := protection.Broken{}, sets.New(addOn.Name)
	if err := cluster.addBroken(ctx, evaluator, removed, removed.Has, broken); err != nil || len(broken) == 0 {
		return outcome{}, err
	}
	review.words, review.object, review.kind = removalWords, addOn, eventsof.ManagedClusterAddOn
	if addOn.Annotations[addonv1alpha1.ForceAnnotation] != "" || fromOCM(user) { // an event has to be about the stored object
		stored, err := v.readAddOn(ctx, addOn.Namespace, addOn.Name)
		if err != nil || stored == nil || !stored.DeletionTimestamp.IsZero() { // another request has deleted it
			return outcome{}, err
		}
		review.object, review.forceReason = stored, stored.Annotations[addonv1alpha1.ForceAnnotation]
	}
	review.kubectlArgs = fmt.Sprintf("managedclusteraddon %s -n %s", addOn.Name, addOn.Namespace)
	review.subject, review.message = removalSubject(addOn.Name), broken.Message()
	return review, nil
}

// stays reports whether an add-on is installed, and not being deleted.
func (a addOns) stays(name string) bool { return a[name] != nil && a[name].DeletionTimestamp.IsZero() }

// withoutGated returns the names of the add-ons that a change can break. It leaves out add-ons that OCM has not begun to install
// because their gates are closed: they do not run yet. It keeps the subject of the request.
func (a addOns) withoutGated(names []string, subject string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return name != subject && a[name] != nil && fleet.GateClosed(a[name])
	})
}

func removalSubject(addOn string) string {
	return fmt.Sprintf("removing add-on '%s'", text.Name(addOn))
}

// addBroken adds the edges of add-ons that stay on the cluster, and that need one of the removed add-ons. leaves reports whether the
// request removes an add-on, also one that no other add-on requires. On a lost cluster it adds none, because verdicts are held there.
func (r clusterReader) addBroken(
	ctx context.Context, evaluator policyEvaluator, removed sets.Set[string], leaves func(addOn string) bool, broken protection.Broken,
) error {
	oldCluster := r.withoutAddOns(func(name string) bool { return !r.addOns.stays(name) })
	newCluster := oldCluster.withoutAddOns(leaves)
	for _, dependent := range evaluator.dependentsOf(sets.List(removed)) {
		if newCluster.addOns[dependent] == nil {
			continue
		}
		findings, err := newCluster.findings(ctx, evaluator, dependent)
		if err != nil {
			return err
		}
		edges, err := protection.Taken(dependent, removed, findings, func() ([]evaluation.Finding, error) {
			return oldCluster.findings(ctx, evaluator, dependent)
		})
		if err != nil {
			return err
		}
		for edge := range edges {
			broken.Add(edge, r.managedCluster.Name)
		}
	}
	return nil
}

// withoutAddOns returns the cluster without some of its add-ons.
func (r clusterReader) withoutAddOns(leaves func(addOn string) bool) clusterReader {
	r.addOns = maps.Clone(r.addOns)
	maps.DeleteFunc(r.addOns, func(name string, _ *addonv1alpha1.ManagedClusterAddOn) bool { return leaves(name) })
	return r
}

// findings returns the verdicts on the edges of an add-on.
func (r clusterReader) findings(ctx context.Context, evaluator policyEvaluator, addOn string) ([]evaluation.Finding, error) {
	state, err := r.load(ctx, evaluator, addOn)
	if err != nil {
		return nil, err
	}
	return evaluator.Evaluate(addOn, state), nil
}
