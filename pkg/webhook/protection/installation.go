package protection

import (
	"context"
	"fmt"
	"slices"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/protection"
	"open-cluster-management.io/interlock/pkg/dependency/versions"
	eventsof "open-cluster-management.io/interlock/pkg/events"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/names"
	"open-cluster-management.io/interlock/pkg/text"
)

// reviewInstallation finds what contradicts an add-on on a managed cluster as it would be: created, with another AddOnTemplate, or with
// another version in its annotation. before is nil where it is created.
func (v *Validator) reviewInstallation(ctx context.Context, before, after *addonv1alpha1.ManagedClusterAddOn) (found, error) {
	sameTemplate := before != nil && fleet.OwnTemplate(before) == fleet.OwnTemplate(after)
	same := sameTemplate && versions.In(before.Annotations) == versions.In(after.Annotations)
	if same || after.Name == names.AgentAddOn || !after.DeletionTimestamp.IsZero() {
		return found{}, nil
	}
	registration, err := v.declared.registration(ctx, after.Name)
	if err != nil || registration == nil {
		return found{}, err
	}
	under, done, err := v.beginProtected(ctx)
	if done == nil {
		return found{}, err
	}
	defer done()
	if !protection.MayContradict(under.Catalog, after.Name) {
		return found{}, nil
	}
	is, review, ok, err := v.readCluster(ctx, under, after.Namespace)
	if !ok {
		return found{}, err
	}
	is.addOns, err = v.installed(ctx, after.Namespace)
	if err != nil || (is.addOns[after.Name] == nil) != (before == nil) { // or another request was faster
		return found{}, err
	}
	next := installing{on: is.withKnownFacts(), under: under, addOn: after}
	if !sameTemplate {
		if next, err = v.installing(ctx, next.on, under, after, registration); err != nil {
			return found{}, err
		}
	}
	result, err := next.on.contradictions(ctx, next.under, next.addOn, !sameTemplate)
	if err != nil {
		return found{}, err
	}
	review.request = toInstall
	if before != nil {
		review.request = toChangeHere
	}
	review.object, review.kind, review.forced = registration, eventsof.ClusterManagementAddOn, after.Annotations[addonv1alpha1.ForceAnnotation]
	review.does = fmt.Sprintf("add-on '%s' on cluster %s", text.Name(after.Name), after.Namespace)
	review.held, review.gated = fleet.HeldForContradiction(after), fleet.GateClosed(after)
	review.message, review.unchecked = result.contradicted.Message(after.Name), result.unchecked.Message()
	return review, nil
}

// Contradicts returns what an add-on contradicts that OCM creates, where protection is enforced; empty: nothing. OCM is never refused
// anything, because it would try again for ever, so the installation waits instead.
func (v *Validator) Contradicts(ctx context.Context, addOn *addonv1alpha1.ManagedClusterAddOn, by authenticationv1.UserInfo) (string, error) {
	if !ofOCM(by) {
		return "", nil
	}
	review, err := v.reviewInstallation(ctx, nil, addOn)
	if err != nil || review.mode != dependencyv1alpha1.ProtectionEnforce || strings.TrimSpace(review.forced) != "" {
		return "", err
	}
	return review.message, nil
}

// installing is an add-on as it is once OCM has installed it, and the managed cluster and the declarations with its AddOnTemplate.
type installing struct {
	on    clusterReader
	under declared
	addOn *addonv1alpha1.ManagedClusterAddOn
	// missing is the AddOnTemplate that OCM will have chosen, if it does not exist: GitOps may create it later. What runs is not known then.
	missing string
}

// installing returns what OCM will have installed.
func (v *Validator) installing(
	ctx context.Context, on clusterReader, under declared,
	addOn *addonv1alpha1.ManagedClusterAddOn, registration *addonv1alpha1.ClusterManagementAddOn,
) (installing, error) {
	next := installing{on: on, under: under, addOn: addOn}
	chosen, known := fleet.TemplateWithoutPlacements(addOn, registration)
	if chosen == "" {
		return next, nil
	}
	template, fresh, err := v.template(ctx, chosen)
	if err != nil {
		return next, err
	}
	if known && template != nil {
		next.addOn = fleet.WithTemplate(addOn, chosen)
	} else {
		next.addOn = fleet.WithRollout(addOn, chosen)
	}
	if template == nil && known {
		next.missing = chosen
	}
	if fresh {
		next.under, next.on.changed, err = v.including(ctx, under, template)
	}
	return next, err
}

// installationReview is the result of the review of an installation on a managed cluster.
type installationReview struct {
	contradicted protection.Contradicted
	unchecked    protection.Unchecked
}

// contradictions finds those that the installation of an add-on would bring to it and its dependents, and the edges that
// could not be checked. reportsAnother is set where its agent is about to report another version.
func (s clusterReader) contradictions(
	ctx context.Context, under declared, installed *addonv1alpha1.ManagedClusterAddOn, reportsAnother bool,
) (installationReview, error) {
	then, changed := s.with(installed), ""
	if reportsAnother {
		changed = installed.Name
	}
	affected := s.addOns.begun(append(under.dependentsOf([]string{installed.Name}), installed.Name), installed.Name)
	after, err := then.settledFindings(ctx, under, affected, changed)
	if err != nil {
		return installationReview{}, err
	}
	result := installationReview{protection.Contradictions(nil, after), protection.UncheckedIn(nil, after)}
	for _, changed := range slices.Compact([]string{"", changed}) { // with what its agent reports, and without
		if len(result.contradicted) == 0 && len(result.unchecked) == 0 {
			return installationReview{}, nil
		}
		before, err := s.settledFindings(ctx, under, affected, changed)
		if err != nil {
			return installationReview{}, err
		}
		result = installationReview{protection.Contradictions(before, result.contradicted), protection.UncheckedIn(before, result.unchecked)}
	}
	return result, nil
}

// settledFindings returns the verdicts on the edges of add-ons once what is installed is available. The changed add-on, if any,
// is about to report another version.
func (s clusterReader) settledFindings(ctx context.Context, under declared, addOns []string, changed string) (map[string][]evaluation.Finding, error) {
	findings := map[string][]evaluation.Finding{}
	for _, name := range addOns {
		if !s.addOns.stays(name) {
			continue
		}
		state, err := s.state(ctx, under, name)
		if err != nil {
			return nil, err
		}
		findings[name] = under.Evaluate(name, protection.Settle(state, changed))
	}
	return findings, nil
}
