package protection

import (
	"context"
	"fmt"
	"maps"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/protection"
	eventsof "open-cluster-management.io/interlock/pkg/events"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/names"
	"open-cluster-management.io/interlock/pkg/text"
)

// reviewInstallation finds what contradicts an add-on on a managed cluster as it would be: created, or with another
// AddOnTemplate. before is nil where it is created.
func (v *Validator) reviewInstallation(ctx context.Context, before, after *addonv1alpha1.ManagedClusterAddOn) (found, error) {
	same := before != nil && fleet.OwnTemplate(before) == fleet.OwnTemplate(after)
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
	installing, err := v.installing(ctx, after, registration)
	if err != nil {
		return found{}, err
	}
	contradicted, err := is.contradictions(ctx, under, installing)
	if err != nil {
		return found{}, err
	}
	review.request = toInstall
	review.object, review.kind, review.forced = registration, eventsof.ClusterManagementAddOn, after.Annotations[addonv1alpha1.ForceAnnotation]
	review.does, review.message = fmt.Sprintf("add-on '%s' on cluster %s", text.Name(after.Name), after.Namespace), contradicted.Message(after.Name)
	return review, nil
}

// installing returns an add-on as it is once OCM has installed it, with the AddOnTemplate that OCM will have chosen. What
// runs is not known where that does not exist: GitOps may create it later.
func (v *Validator) installing(
	ctx context.Context, addOn *addonv1alpha1.ManagedClusterAddOn, of *addonv1alpha1.ClusterManagementAddOn,
) (*addonv1alpha1.ManagedClusterAddOn, error) {
	chosen, known := fleet.TemplateOf(addOn, of, nil)
	if chosen == "" {
		return addOn, nil
	}
	template, err := v.declared.template(ctx, chosen)
	return fleet.WithTemplate(addOn, chosen, known && template != nil), err
}

// contradictions finds those that the installation of an add-on would bring to it and its dependents.
func (s clusterReader) contradictions(
	ctx context.Context, under declared, installed *addonv1alpha1.ManagedClusterAddOn,
) (protection.Contradicted, error) {
	then := s
	then.addOns = maps.Clone(s.addOns)
	then.addOns[installed.Name] = installed
	affected := append(under.dependentsOf([]string{installed.Name}), installed.Name)
	after, err := then.settledFindings(ctx, under, affected, installed.Name)
	contradicted := protection.Contradictions(nil, after)
	for _, changed := range []string{"", installed.Name} { // with what its agent reports, and without
		if err != nil || len(contradicted) == 0 {
			return nil, err
		}
		var before map[string][]evaluation.Finding
		before, err = s.settledFindings(ctx, under, affected, changed)
		contradicted = protection.Contradictions(before, contradicted)
	}
	return contradicted, err
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
