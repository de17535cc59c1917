package protection

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
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/gate"
	"open-cluster-management.io/interlock/pkg/dependency/policy"
	"open-cluster-management.io/interlock/pkg/fleet"
)

// declared is what add-ons declare, under the policies.
type declared struct {
	*evaluation.Evaluator
	policies policy.Set
}

// dependentsOf returns the add-ons, ascending, that have an edge on any of the add-ons.
func (d declared) dependentsOf(addOns []string) []string {
	dependents := sets.New[string]()
	for _, addOn := range addOns {
		dependents.Insert(d.Dependents(addOn)...)
	}
	return sets.List(dependents)
}

// declarations reads what is declared, and prepares it again only once something has changed.
type declarations struct {
	// cache has the registrations, AddOnTemplates and policies.
	cache client.Reader

	mutex sync.Mutex
	// registered is the catalog without policies, and prepared the evaluator under them.
	registered memo[*catalog.Catalog]
	prepared   memo[declared]
}

// memo is a value that was made of objects of certain versions.
type memo[T any] struct {
	of    string
	value T
}

func (m *memo[T]) get(of string, compute func() T) T {
	if m.of != of {
		m.of, m.value = of, compute()
	}
	return m.value
}

// objects are what is read of declarations, and what they are made of.
type objects struct {
	addOns    []addonv1alpha1.ClusterManagementAddOn
	templates []addonv1alpha1.AddOnTemplate
	of        string
}

// dependents returns the add-ons that have an edge on an add-on, whatever the policies say.
func (d *declarations) dependents(ctx context.Context, addOn string) ([]string, error) {
	read, err := d.read(ctx)
	if err != nil {
		return nil, err
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return d.catalog(read).Dependents(addOn), nil
}

// provides reports whether an add-on declares that it provides APIs.
func (d *declarations) provides(ctx context.Context, addOn string) (bool, error) {
	read, err := d.read(ctx)
	if err != nil {
		return false, err
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return len(d.catalog(read).Provided(addOn)) > 0, nil
}

// registration returns that of an add-on; nil where it has none, or nothing that depends on anything: neither declares
// the add-on a dependency or requirement, nor has any add-on an edge on it.
func (d *declarations) registration(ctx context.Context, addOn string) (*addonv1alpha1.ClusterManagementAddOn, error) {
	read, err := d.read(ctx)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(read.addOns, func(one addonv1alpha1.ClusterManagementAddOn) bool { return one.Name == addOn })
	if at < 0 {
		return nil, nil
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	all := d.catalog(read)
	declares := func(one declaration.Declaration) bool { return !one.Empty() || gate.Ordered(one) } // what is ordered may wait for its template
	if len(all.Dependents(addOn)) == 0 && !slices.ContainsFunc(all.Declarations(addOn), declares) {
		return nil, nil
	}
	return &read.addOns[at], nil
}

// placedBy returns the add-ons, ascending, that a Placement installs; none if nothing has an edge on any of them.
func (d *declarations) placedBy(ctx context.Context, placement types.NamespacedName) ([]string, error) {
	read, err := d.read(ctx)
	if err != nil {
		return nil, err
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	declared := d.catalog(read)
	if len(declared.PlacedBy(placement)) == 0 {
		return nil, nil
	}
	return slices.DeleteFunc(declared.AddOns(), func(addOn string) bool {
		return !slices.Contains(declared.Install(addOn).Placements, placement)
	}), nil
}

// under returns what is declared under the policies.
func (d *declarations) under(ctx context.Context) (declared, error) {
	read, err := d.read(ctx)
	if err != nil {
		return declared{}, err
	}
	policies, err := d.readPolicies(ctx)
	if err != nil {
		return declared{}, err
	}
	of := read.of + versionsOf(policies, func(p *dependencyv1alpha1.AddOnDependencyPolicy) client.Object { return p })
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return d.prepared.get(of, func() declared {
		set := policy.Read(policies)
		return declared{evaluation.New(d.catalog(read).Under(set)), set}
	}), nil
}

// with returns what is declared under policies with another state of a registration, nil for none, and of AddOnTemplates.
func (d *declarations) with(
	ctx context.Context, policies policy.Set, state *addonv1alpha1.ClusterManagementAddOn, templates newTemplates,
) (declared, error) {
	read, err := d.read(ctx)
	if err != nil {
		return declared{}, err
	}
	d.mutex.Lock()
	known := d.catalog(read)
	d.mutex.Unlock()
	all := read.addOns
	if state != nil {
		all = slices.DeleteFunc(slices.Clone(all), func(one addonv1alpha1.ClusterManagementAddOn) bool { return one.Name == state.Name })
		all = append(all, *state)
	}
	if read.templates == nil && usesTemplates(all) {
		if read.templates, err = (fleet.Objects{Reader: d.cache}).Templates(ctx); err != nil {
			return declared{}, err
		}
	}
	renewed := known.Renew(all, catalog.Templates{Items: templates.in(read.templates)})
	return declared{evaluation.New(renewed.Under(policies)), policies}, nil
}

// catalog returns the catalog of what was read. The mutex is locked: nothing is read meanwhile.
func (d *declarations) catalog(of objects) *catalog.Catalog {
	return d.registered.get(of.of, func() *catalog.Catalog { return catalog.New(of.addOns, of.templates...) })
}

// read reads the registrations, and where they use AddOnTemplates these too.
func (d *declarations) read(ctx context.Context) (objects, error) {
	cached := fleet.Objects{Reader: d.cache}
	addOns, err := cached.AddOns(ctx)
	if err != nil {
		return objects{}, err
	}
	read := objects{addOns: addOns, of: versionsOf(addOns, func(a *addonv1alpha1.ClusterManagementAddOn) client.Object { return a })}
	if !usesTemplates(addOns) {
		return read, nil
	}
	if read.templates, err = cached.Templates(ctx); err != nil {
		return objects{}, err
	}
	read.of += versionsOf(read.templates, func(t *addonv1alpha1.AddOnTemplate) client.Object { return t })
	return read, nil
}

func usesTemplates(addOns []addonv1alpha1.ClusterManagementAddOn) bool {
	return slices.ContainsFunc(addOns, func(addOn addonv1alpha1.ClusterManagementAddOn) bool { return declaration.UsesTemplates(&addOn) })
}

// readPolicies lists the policies; none where the hub does not serve them.
func (d *declarations) readPolicies(ctx context.Context) ([]dependencyv1alpha1.AddOnDependencyPolicy, error) {
	var all dependencyv1alpha1.AddOnDependencyPolicyList
	switch err := d.cache.List(ctx, &all); {
	case meta.IsNoMatchError(err), apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("list policies: %w", err)
	}
	return all.Items, nil
}

// versionsOf is equal for equal objects.
func versionsOf[T any](all []T, object func(*T) client.Object) string {
	var of strings.Builder
	for i := range all {
		one := object(&all[i])
		of.WriteString(one.GetName() + "/" + string(one.GetUID()) + "/" + one.GetResourceVersion() + " ")
	}
	return of.String() + "; "
}
