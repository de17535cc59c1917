package protection

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/policy"
	"open-cluster-management.io/interlock/pkg/fleet"
)

// declared is what add-ons declare, under the policies.
type declared struct {
	*evaluation.Evaluator
	policies policy.Set
}

// declarations reads what is declared, and prepares it again only once something has changed.
type declarations struct {
	// cache has the registrations and AddOnTemplates. Policies are read live: few requests need them, and
	// a hub may not serve them.
	cache, live client.Reader

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
	switch err := d.live.List(ctx, &all); {
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
