package protector

import (
	"context"

	"k8s.io/apimachinery/pkg/types"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/condition/gate"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/versions"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
)

// Registered returns the declaration in the registration of an add-on, as far as the cache has it. Without one, it returns the zero value.
func (v *Validator) Registered(ctx context.Context, addOn string) (declaration.Declaration, error) {
	stored, err := v.declarations.read(ctx)
	if err != nil {
		return declaration.Declaration{}, err
	}
	v.declarations.mutex.Lock()
	defer v.declarations.mutex.Unlock()
	return v.declarations.catalog(stored).Declaration(addOn), nil
}

// Created returns the verdicts on an add-on at its creation, with the present state of its managed cluster. They are not known if the
// cluster does not exist or is being detached, or if the add-on exists already.
func (v *Validator) Created(ctx context.Context, addOn *addonv1alpha1.ManagedClusterAddOn) (gate.Creation, error) {
	unknown := gate.Creation{}
	registration, err := v.declarations.registration(ctx, addOn.Name)
	if err != nil || registration == nil {
		return unknown, err
	}
	evaluator, release, err := v.begin(ctx)
	if err != nil {
		return unknown, err
	}
	defer release()
	cluster, ok, err := v.attachedCluster(ctx, addOn.Namespace)
	if err != nil || !ok {
		return unknown, err
	}
	cluster.addOns, err = v.readAddOns(ctx, addOn.Namespace)
	if err != nil || cluster.addOns[addOn.Name] != nil {
		return unknown, err
	}
	state, err := v.applyTemplate(ctx, installedState{cluster: cluster, evaluator: evaluator, addOn: addOn}, registration)
	if err != nil {
		return unknown, err
	}
	// addon-manager has not planned installations for it yet. Verdicts on new add-ons are needed for gates only, so the lifecycle is on.
	state.cluster.installationWait = evaluation.WaitForInterlock
	findings, err := v.findings(ctx, state)
	return gate.Creation{Findings: findings, Missing: state.missingTemplate, Evaluated: err == nil}, err
}

// findings returns the verdicts on an add-on once it is installed.
func (v *Validator) findings(ctx context.Context, state installedState) ([]evaluation.Finding, error) {
	name := state.addOn.Name
	cluster := state.cluster.withAddOn(state.addOn)
	cluster.hubAPIs = v.lazyHubAPIs(ctx, state.evaluator, []string{name})
	return cluster.findings(ctx, state.evaluator, name)
}

// Upgraded returns the verdicts on an add-on with another AddOnTemplate, and the upgrade to that template. The upgrade is nil if no
// verdict is known: the cluster is being detached, or the add-on does not exist.
func (v *Validator) Upgraded(
	ctx context.Context, addOn types.NamespacedName, templateName string,
) ([]evaluation.Finding, *gate.Upgrade, error) {
	template, uncached, err := v.readTemplate(ctx, templateName)
	if err != nil {
		return nil, nil, err
	}
	evaluator, release, err := v.begin(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer release()
	cluster, ok, err := v.attachedCluster(ctx, addOn.Namespace)
	if err != nil || !ok {
		return nil, nil, err
	}
	if template == nil {
		return nil, &gate.Upgrade{Template: templateName, Missing: true}, nil
	}
	cluster.addOns, err = v.readAddOns(ctx, addOn.Namespace)
	if err != nil || cluster.addOns[addOn.Name] == nil {
		return nil, nil, err
	}
	if uncached {
		if evaluator, cluster.overrides, err = v.loadUncached(ctx, evaluator.policies, template); err != nil {
			return nil, nil, err
		}
	}
	upgraded := fleet.WithTemplate(cluster.addOns[addOn.Name], templateName)
	findings, err := v.findings(ctx, installedState{cluster: cluster, evaluator: evaluator, addOn: upgraded})
	if err != nil {
		return nil, nil, err
	}
	return findings, &gate.Upgrade{Template: templateName, Version: versions.OfTemplate(template.Annotations, template.Labels)}, nil
}
