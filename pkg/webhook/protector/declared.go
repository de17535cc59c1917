package protector

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/condition/gate"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/policy"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
)

// policyEvaluator evaluates the dependencies that add-ons declare, as the policies change them.
type policyEvaluator struct {
	*evaluation.Evaluator
	policies policy.Set
}

// dependentsOf returns the add-ons, ascending, that have an edge on any of the add-ons.
func (e policyEvaluator) dependentsOf(addOns []string) []string {
	dependents := sets.New[string]()
	for _, addOn := range addOns {
		dependents.Insert(e.Dependents(addOn)...)
	}
	return sets.List(dependents)
}

// declarations reads the registrations, AddOnTemplates and policies of the hub. It keeps the catalog and the evaluator that it makes
// of them until one of the objects changes.
type declarations struct {
	// cache has the registrations, AddOnTemplates and policies.
	cache client.Reader

	mutex sync.Mutex
	// registered is the catalog without policies, and prepared the evaluator with them.
	registered memo[*catalog.Catalog]
	prepared   memo[policyEvaluator]
}

// memo is a computed value, with the fingerprint of the objects that it was computed from.
type memo[T any] struct {
	fingerprint string
	value       T
}

func (m *memo[T]) get(fingerprint string, compute func() T) T {
	if m.fingerprint != fingerprint {
		m.fingerprint, m.value = fingerprint, compute()
	}
	return m.value
}

// snapshot has the registrations and AddOnTemplates of the cache, with their fingerprint. It has AddOnTemplates only if a registration
// uses any.
type snapshot struct {
	addOns      []addonv1alpha1.ClusterManagementAddOn
	templates   []addonv1alpha1.AddOnTemplate
	fingerprint string
}

// dependents returns the add-ons that have an edge on an add-on. It ignores policies.
func (d *declarations) dependents(ctx context.Context, addOn string) ([]string, error) {
	stored, err := d.read(ctx)
	if err != nil {
		return nil, err
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return d.catalog(stored).Dependents(addOn), nil
}

// provides reports whether an add-on declares that it provides APIs.
func (d *declarations) provides(ctx context.Context, addOn string) (bool, error) {
	stored, err := d.read(ctx)
	if err != nil {
		return false, err
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return len(d.catalog(stored).Provided(addOn)) > 0, nil
}

// registration returns the registration of an add-on. It returns nil if no verdict can involve the add-on: it is not registered, or it
// declares neither a dependency nor a requirement, and no add-on has an edge on it.
func (d *declarations) registration(ctx context.Context, addOn string) (*addonv1alpha1.ClusterManagementAddOn, error) {
	stored, err := d.read(ctx)
	if err != nil {
		return nil, err
	}
	index := slices.IndexFunc(stored.addOns, func(item addonv1alpha1.ClusterManagementAddOn) bool { return item.Name == addOn })
	if index < 0 {
		return nil, nil
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	registered := d.catalog(stored)
	matters := func(declared declaration.Declaration) bool {
		return !declared.Empty() || gate.Ordered(declared) // an ordered add-on may wait for its AddOnTemplate
	}
	if len(registered.Dependents(addOn)) == 0 && !slices.ContainsFunc(registered.Declarations(addOn), matters) {
		return nil, nil
	}
	return &stored.addOns[index], nil
}

// placedBy returns the add-ons, ascending, that a Placement installs. It returns none of them if no add-on has an edge on any.
func (d *declarations) placedBy(ctx context.Context, placement types.NamespacedName) ([]string, error) {
	stored, err := d.read(ctx)
	if err != nil {
		return nil, err
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	registered := d.catalog(stored)
	if len(registered.PlacedBy(placement)) == 0 {
		return nil, nil
	}
	return slices.DeleteFunc(registered.AddOns(), func(addOn string) bool {
		return !slices.Contains(registered.Install(addOn).Placements, placement)
	}), nil
}

// load returns the evaluator for the objects of the cache.
func (d *declarations) load(ctx context.Context) (policyEvaluator, error) {
	stored, err := d.read(ctx)
	if err != nil {
		return policyEvaluator{}, err
	}
	policies, err := d.readPolicies(ctx)
	if err != nil {
		return policyEvaluator{}, err
	}
	fingerprint := stored.fingerprint +
		fingerprintOf(policies, func(p *dependencyv1alpha1.AddOnDependencyPolicy) client.Object { return p })
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return d.prepared.get(fingerprint, func() policyEvaluator {
		set := policy.Read(policies)
		return policyEvaluator{evaluation.New(d.catalog(stored).WithPolicies(set)), set}
	}), nil
}

// loadChanged returns the evaluator with another state of a registration and of AddOnTemplates. The registration may be nil: then none
// changes.
func (d *declarations) loadChanged(
	ctx context.Context, policies policy.Set, changed *addonv1alpha1.ClusterManagementAddOn, overrides templateOverrides,
) (policyEvaluator, error) {
	stored, err := d.read(ctx)
	if err != nil {
		return policyEvaluator{}, err
	}
	d.mutex.Lock()
	registered := d.catalog(stored)
	d.mutex.Unlock()
	addOns := stored.addOns
	if changed != nil {
		addOns = slices.DeleteFunc(slices.Clone(addOns), func(addOn addonv1alpha1.ClusterManagementAddOn) bool {
			return addOn.Name == changed.Name
		})
		addOns = append(addOns, *changed)
	}
	if stored.templates == nil && usesTemplates(addOns) {
		if stored.templates, err = (fleet.Objects{Reader: d.cache}).Templates(ctx); err != nil {
			return policyEvaluator{}, err
		}
	}
	renewed := registered.Renew(addOns, catalog.Templates{Items: overrides.apply(stored.templates)})
	return policyEvaluator{evaluation.New(renewed.WithPolicies(policies)), policies}, nil
}

// catalog returns the catalog of a snapshot. The caller locks the mutex, and reads nothing meanwhile.
func (d *declarations) catalog(stored snapshot) *catalog.Catalog {
	return d.registered.get(stored.fingerprint, func() *catalog.Catalog { return catalog.New(stored.addOns, stored.templates...) })
}

// read reads the registrations. It reads AddOnTemplates only if a registration uses any.
func (d *declarations) read(ctx context.Context) (snapshot, error) {
	cached := fleet.Objects{Reader: d.cache}
	addOns, err := cached.AddOns(ctx)
	if err != nil {
		return snapshot{}, err
	}
	fingerprint := fingerprintOf(addOns, func(a *addonv1alpha1.ClusterManagementAddOn) client.Object { return a })
	if !usesTemplates(addOns) {
		return snapshot{addOns: addOns, fingerprint: fingerprint}, nil
	}
	templates, err := cached.Templates(ctx)
	if err != nil {
		return snapshot{}, err
	}
	fingerprint += fingerprintOf(templates, func(t *addonv1alpha1.AddOnTemplate) client.Object { return t })
	return snapshot{addOns, templates, fingerprint}, nil
}

func usesTemplates(addOns []addonv1alpha1.ClusterManagementAddOn) bool {
	return slices.ContainsFunc(addOns, func(addOn addonv1alpha1.ClusterManagementAddOn) bool { return declaration.UsesTemplates(&addOn) })
}

// readPolicies lists the policies. A hub that does not serve their API has no policies.
func (d *declarations) readPolicies(ctx context.Context) ([]dependencyv1alpha1.AddOnDependencyPolicy, error) {
	var list dependencyv1alpha1.AddOnDependencyPolicyList
	switch err := d.cache.List(ctx, &list); {
	case meta.IsNoMatchError(err), apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("list policies: %w", err)
	}
	return list.Items, nil
}

// fingerprintOf returns a string that changes whenever an object is created, changed or deleted.
func fingerprintOf[T any](items []T, object func(*T) client.Object) string {
	var fingerprint strings.Builder
	for i := range items {
		item := object(&items[i])
		fingerprint.WriteString(item.GetName() + "/" + string(item.GetUID()) + "/" + item.GetResourceVersion() + " ")
	}
	return fingerprint.String() + "; "
}
