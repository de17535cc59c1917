package protector

import (
	"context"
	"fmt"
	"slices"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/condition/protection"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/versions"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
	eventsof "open-cluster-management.io/interlock/pkg/kube/events"
	"open-cluster-management.io/interlock/pkg/names"
	"open-cluster-management.io/interlock/pkg/text"
)

// reviewInstallation reviews a new state of an add-on on a managed cluster: created, with another AddOnTemplate, or with another version
// in its annotation. oldAddOn is nil if the add-on is created.
func (v *Validator) reviewInstallation(ctx context.Context, oldAddOn, newAddOn *addonv1alpha1.ManagedClusterAddOn) (outcome, error) {
	sameTemplate := oldAddOn != nil && fleet.OwnTemplate(oldAddOn) == fleet.OwnTemplate(newAddOn)
	same := sameTemplate && versions.In(oldAddOn.Annotations) == versions.In(newAddOn.Annotations)
	if same || newAddOn.Name == names.AgentAddOn || !newAddOn.DeletionTimestamp.IsZero() {
		return outcome{}, nil
	}
	registration, err := v.declarations.registration(ctx, newAddOn.Name)
	if err != nil || registration == nil {
		return outcome{}, err
	}
	evaluator, release, err := v.beginProtected(ctx)
	if err != nil || release == nil {
		return outcome{}, err
	}
	defer release()
	if !protection.MayContradict(evaluator.Catalog, newAddOn.Name) {
		return outcome{}, nil
	}
	begun, ok, err := v.beginCluster(ctx, evaluator, newAddOn.Namespace)
	if err != nil || !ok {
		return outcome{}, err
	}
	cluster, review := begun.cluster, begun.outcome
	cluster.addOns, err = v.readAddOns(ctx, newAddOn.Namespace)
	if err != nil || (cluster.addOns[newAddOn.Name] == nil) != (oldAddOn == nil) { // or another request was faster
		return outcome{}, err
	}
	next := installedState{cluster: cluster.withLastReportedFacts(), evaluator: evaluator, addOn: newAddOn}
	if !sameTemplate {
		if next, err = v.applyTemplate(ctx, next, registration); err != nil {
			return outcome{}, err
		}
	}
	effect, err := next.review(ctx, !sameTemplate)
	if err != nil {
		return outcome{}, err
	}
	review.words = installationWords
	if oldAddOn != nil {
		review.words = installedChangeWords
	}
	review.object, review.kind = registration, eventsof.ClusterManagementAddOn
	review.forceReason = newAddOn.Annotations[addonv1alpha1.ForceAnnotation]
	review.subject = fmt.Sprintf("add-on '%s' on cluster %s", text.Name(newAddOn.Name), newAddOn.Namespace)
	review.heldForContradiction, review.gateClosed = fleet.HeldForContradiction(newAddOn), fleet.GateClosed(newAddOn)
	review.message, review.uncheckedMessage = effect.contradicted.Message(newAddOn.Name), effect.unchecked.Message()
	return review, nil
}

// Contradicts returns a message if OCM creates an add-on that contradicts others, and protection is enforced. Otherwise the message is
// empty. Requests of OCM are never refused, because OCM would try again for ever, so the installation waits instead.
func (v *Validator) Contradicts(
	ctx context.Context, addOn *addonv1alpha1.ManagedClusterAddOn, user authenticationv1.UserInfo,
) (string, error) {
	if !fromOCM(user) {
		return "", nil
	}
	review, err := v.reviewInstallation(ctx, nil, addOn)
	if err != nil || review.mode != dependencyv1alpha1.ProtectionEnforce || strings.TrimSpace(review.forceReason) != "" {
		return "", err
	}
	return review.message, nil
}

// installedState is an add-on on a managed cluster once OCM has installed it.
type installedState struct {
	// cluster and evaluator have the AddOnTemplate that OCM chooses. The add-on on the cluster is still the old one.
	cluster   clusterReader
	evaluator policyEvaluator
	addOn     *addonv1alpha1.ManagedClusterAddOn
	// missingTemplate is the AddOnTemplate that OCM chooses, if it does not exist. GitOps may create it later, so the version that will
	// run is not known.
	missingTemplate string
}

// applyTemplate adds the AddOnTemplate that OCM chooses for the add-on.
func (v *Validator) applyTemplate(
	ctx context.Context, state installedState, registration *addonv1alpha1.ClusterManagementAddOn,
) (installedState, error) {
	chosen, certain := fleet.TemplateWithoutPlacements(state.addOn, registration)
	if chosen == "" {
		return state, nil
	}
	template, uncached, err := v.readTemplate(ctx, chosen)
	if err != nil {
		return state, err
	}
	if certain && template != nil {
		state.addOn = fleet.WithTemplate(state.addOn, chosen)
	} else {
		state.addOn = fleet.WithRollout(state.addOn, chosen)
	}
	if template == nil && certain {
		state.missingTemplate = chosen
	}
	if uncached {
		state.evaluator, state.cluster.overrides, err = v.loadUncached(ctx, state.evaluator.policies, template)
	}
	return state, err
}

// installationEffect is the effect of an installation on the add-on and its dependents.
type installationEffect struct {
	contradicted protection.Contradicted
	unchecked    protection.Unchecked
}

// review returns the contradictions that the installation brings, and the edges that cannot be checked. reportsVersion is true if the
// agent of the add-on is about to report another version.
func (s installedState) review(ctx context.Context, reportsVersion bool) (installationEffect, error) {
	name := s.addOn.Name
	newCluster, reporting := s.cluster.withAddOn(s.addOn), ""
	if reportsVersion {
		reporting = name
	}
	affected := s.cluster.addOns.withoutGated(append(s.evaluator.dependentsOf([]string{name}), name), name)
	newFindings, err := newCluster.settledFindings(ctx, s.evaluator, affected, reporting)
	if err != nil {
		return installationEffect{}, err
	}
	effect := installationEffect{protection.Contradictions(nil, newFindings), protection.UncheckedIn(nil, newFindings)}
	// The old state is compared with the last report of the agent, and without it.
	for _, reporting := range slices.Compact([]string{"", reporting}) {
		if len(effect.contradicted) == 0 && len(effect.unchecked) == 0 {
			return installationEffect{}, nil
		}
		oldFindings, err := s.cluster.settledFindings(ctx, s.evaluator, affected, reporting)
		if err != nil {
			return installationEffect{}, err
		}
		effect = installationEffect{
			protection.Contradictions(oldFindings, effect.contradicted), protection.UncheckedIn(oldFindings, effect.unchecked),
		}
	}
	return effect, nil
}

// settledFindings returns the verdicts on the edges of add-ons once all installed add-ons are available. The agent of the reporting
// add-on, if any, is about to report another version.
func (r clusterReader) settledFindings(
	ctx context.Context, evaluator policyEvaluator, addOns []string, reporting string,
) (map[string][]evaluation.Finding, error) {
	findings := map[string][]evaluation.Finding{}
	for _, name := range addOns {
		if !r.addOns.stays(name) {
			continue
		}
		state, err := r.load(ctx, evaluator, name)
		if err != nil {
			return nil, err
		}
		findings[name] = evaluator.Evaluate(name, protection.Settle(state, reporting))
	}
	return findings, nil
}
