package protection

import (
	"context"

	"k8s.io/apimachinery/pkg/types"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/gate"
	"open-cluster-management.io/interlock/pkg/dependency/versions"
	"open-cluster-management.io/interlock/pkg/fleet"
)

// Registered returns what the registration of an add-on declares, by the cache; the zero value where it has none.
func (v *Validator) Registered(ctx context.Context, addOn string) (declaration.Declaration, error) {
	read, err := v.declared.read(ctx)
	if err != nil {
		return declaration.Declaration{}, err
	}
	v.declared.mutex.Lock()
	defer v.declared.mutex.Unlock()
	return v.declared.catalog(read).Declaration(addOn), nil
}

// Created returns the verdicts on an add-on as it is created, with what is on its managed cluster at that moment. They are not known
// where the cluster is not there or is being detached, or the add-on exists already.
func (v *Validator) Created(ctx context.Context, addOn *addonv1alpha1.ManagedClusterAddOn) (gate.Creation, error) {
	unknown := gate.Creation{}
	registration, err := v.declared.registration(ctx, addOn.Name)
	if err != nil || registration == nil {
		return unknown, err
	}
	under, done, err := v.begin(ctx)
	if err != nil {
		return unknown, err
	}
	defer done()
	is, ok, err := v.attachedCluster(ctx, addOn.Namespace)
	if !ok {
		return unknown, err
	}
	is.addOns, err = v.installed(ctx, addOn.Namespace)
	if err != nil || is.addOns[addOn.Name] != nil {
		return unknown, err
	}
	next, err := v.installing(ctx, is, under, addOn, registration)
	if err != nil {
		return unknown, err
	}
	// addon-manager has not planned installations for it yet. Verdicts on add-ons that are created are needed for gates only, so the
	// lifecycle is on.
	next.on.waits = evaluation.WaitForInterlock
	findings, err := v.findingsWith(ctx, next.under, next.on, next.addOn)
	return gate.Creation{Findings: findings, Missing: next.missing, Known: err == nil}, err
}

// findingsWith returns the verdicts on an add-on as it would be, on a managed cluster that is otherwise as it is.
func (v *Validator) findingsWith(
	ctx context.Context, under declared, is clusterReader, addOn *addonv1alpha1.ManagedClusterAddOn,
) ([]evaluation.Finding, error) {
	is.addOns[addOn.Name] = addOn
	is.hub = v.apisOfHub(ctx, under, []string{addOn.Name})
	state, err := is.state(ctx, under, addOn.Name)
	if err != nil {
		return nil, err
	}
	return under.Evaluate(addOn.Name, state), nil
}

// Upgraded returns the verdicts on an add-on as it would be with another AddOnTemplate, and what that is. known is false where nothing
// can be said: the cluster is being detached, or there is no such add-on or template.
func (v *Validator) Upgraded(
	ctx context.Context, addOn types.NamespacedName, template string,
) (findings []evaluation.Finding, upgrade gate.Upgrade, known bool, err error) {
	next, fresh, err := v.template(ctx, template)
	if err != nil {
		return nil, upgrade, false, err
	}
	under, done, err := v.begin(ctx)
	if err != nil {
		return nil, upgrade, false, err
	}
	defer done()
	is, ok, err := v.attachedCluster(ctx, addOn.Namespace)
	if !ok {
		return nil, upgrade, false, err
	}
	if next == nil {
		return nil, gate.Upgrade{Template: template, Missing: true}, true, nil
	}
	upgrade = gate.Upgrade{Template: template, Version: versions.OfTemplate(next.Annotations, next.Labels)}
	is.addOns, err = v.installed(ctx, addOn.Namespace)
	if err != nil || is.addOns[addOn.Name] == nil {
		return nil, upgrade, false, err
	}
	if fresh {
		if under, is.changed, err = v.including(ctx, under, next); err != nil {
			return nil, upgrade, false, err
		}
	}
	findings, err = v.findingsWith(ctx, under, is, fleet.WithTemplate(is.addOns[addOn.Name], template))
	return findings, upgrade, err == nil, err
}
