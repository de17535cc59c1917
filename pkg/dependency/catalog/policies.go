package catalog

import (
	"fmt"
	"maps"
	"slices"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/policy"
	"open-cluster-management.io/interlock/pkg/text"
)

// WithPolicies returns the catalog with the overrides of these policies. It drops the overrides of earlier policies.
func (c *Catalog) WithPolicies(policies policy.Set) *Catalog {
	result := *c
	result.policies = policies
	result.declarations = make(map[string]declaration.Declaration, len(c.declarations))
	changed := false
	overridden := func(addOn string, declared declaration.Declaration) declaration.Declaration {
		effective := declared.Overridden(func(name string) []*policy.Override { return policies.Overrides(addOn, name) })
		changed = changed || !declaration.SameOverrides(declared, effective)
		return effective
	}
	for addOn, declared := range c.declarations {
		result.declarations[addOn] = overridden(addOn, declared)
	}
	result.templates = maps.Clone(c.templates)
	for name, template := range c.templates {
		template.declaration = overridden(template.addOn, template.declaration)
		result.templates[name] = template
	}
	switch {
	case changed:
		result.connect()
	case policies.InstallsAlike(c.policies):
		return c
	}
	return &result
}

// Denying returns the policies that deny installations on a managed cluster with these labels, in ascending order.
func (c *Catalog) Denying(clusterLabels map[string]string) []string {
	return c.policies.Denying(clusterLabels)
}

// MayBeDenied reports whether a policy denies, on some managed clusters, an installation for edges of the add-on.
func (c *Catalog) MayBeDenied(addOn string) bool { return c.policies.MayDeny() && c.installsFor(addOn) }

// installsFor reports whether an edge of the add-on requests the installation of its dependency.
func (c *Catalog) installsFor(addOn string) bool {
	return slices.ContainsFunc(c.variants(addOn), func(v variant) bool {
		return slices.ContainsFunc(v.declared.Dependencies, func(dependency addonv1alpha1.AddonDependency) bool {
			return declaration.Installs(&dependency)
		})
	})
}

// Declarations returns all declarations that the add-on can have on a managed cluster: of its registration, and of its
// AddOnTemplates.
func (c *Catalog) Declarations(addOn string) []declaration.Declaration {
	var declarations []declaration.Declaration
	for _, v := range c.variants(addOn) {
		declarations = append(declarations, v.declared)
	}
	return declarations
}

// Overridden returns the add-ons with overrides by policies, in ascending order.
func (c *Catalog) Overridden() []string {
	var addOns []string
	for addOn := range c.declarations {
		if c.HasOverrides(addOn) {
			addOns = append(addOns, addOn)
		}
	}
	slices.Sort(addOns)
	return addOns
}

// HasOverrides reports whether policies override a part of the add-on's declarations.
func (c *Catalog) HasOverrides(addOn string) bool {
	return slices.ContainsFunc(c.variants(addOn), func(v variant) bool { return v.declared.HasOverrides() })
}

// WithoutEffect returns the reason why an override has no effect on any managed cluster. It is empty if the override can
// have an effect.
func (c *Catalog) WithoutEffect(target *dependencyv1alpha1.DependencyOverride, override *policy.Override) string {
	switch {
	case !c.Registered(target.AddOn):
		return fmt.Sprintf("no ClusterManagementAddOn of the name %s is on this hub", text.Name(target.AddOn))
	case !c.AllValid(target.AddOn):
		return fmt.Sprintf("what %s declares cannot be read", text.Name(target.AddOn))
	}
	because := fmt.Sprintf("%s declares no dependency of the name %s", text.Name(target.AddOn), text.Name(target.Dependency))
	for _, declared := range c.Declarations(target.AddOn) {
		reason, ok := declared.WithoutEffect(target.Dependency, override)
		switch {
		case ok && reason == "":
			return ""
		case ok:
			because = reason
		}
	}
	return because
}

// TemplatesUnread reports whether the declarations in AddOnTemplates of the add-on could not be read yet.
func (c *Catalog) TemplatesUnread(addOn string) bool { return c.unreadFor(addOn) }

// TemplatesDeclare reports whether AddOnTemplates may have declarations of the add-on.
func (c *Catalog) TemplatesDeclare(addOn string) bool { return c.usesTemplates[addOn] }
