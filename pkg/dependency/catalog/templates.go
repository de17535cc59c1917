package catalog

import (
	"maps"
	"slices"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
)

// A declaration in an AddOnTemplate is in force for its add-on on the clusters where the template runs. So an add-on has
// several declarations, and one of them is in force on each cluster: the declaration of the running template, or the
// declaration of the registration.

// Templates has the AddOnTemplates of a hub.
type Templates struct {
	Items []addonv1alpha1.AddOnTemplate
	// Unread is true if they could not be read yet.
	Unread bool
}

// templated is the declaration in a template.
type templated struct {
	addOn, text string
	declaration declaration.Declaration
}

// variant is a declaration of an add-on. template is empty for the declaration of its registration.
type variant struct {
	template string
	declared declaration.Declaration
}

// addTemplates adds the templates with a declaration. It reuses the declarations that the catalog before has.
func (c *Catalog) addTemplates(addOns []addonv1alpha1.ClusterManagementAddOn, templates Templates, old *Catalog) {
	c.templates, c.variantsOf, c.usesTemplates = map[string]templated{}, map[string][]string{}, map[string]bool{}
	c.templatesUnread = templates.Unread
	for i := range addOns {
		if declaration.UsesTemplates(&addOns[i]) {
			c.usesTemplates[addOns[i].Name] = true
		}
	}
	for i := range templates.Items {
		template := &templates.Items[i]
		text := template.Annotations[addonv1alpha1.TemplateDependenciesAnnotation]
		entry, ok := old.templates[template.Name]
		if !ok || entry.text != text {
			parsed, declares := declaration.ReadTemplate(template)
			if !declares {
				continue
			}
			entry.text, entry.declaration = text, parsed
		}
		entry.addOn = template.Spec.AddonName
		c.templates[template.Name] = entry
		if c.usesTemplates[entry.addOn] {
			c.variantsOf[entry.addOn] = append(c.variantsOf[entry.addOn], template.Name)
		}
	}
	for _, names := range c.variantsOf {
		slices.Sort(names)
	}
}

// UsesTemplates reports whether any add-on can be deployed from AddOnTemplates.
func (c *Catalog) UsesTemplates() bool { return len(c.usesTemplates) > 0 }

// Deployable reports whether the add-on can be deployed from AddOnTemplates.
func (c *Catalog) Deployable(addOn string) bool { return c.usesTemplates[addOn] }

// Templated reports whether the declaration of the add-on on a cluster depends on the running AddOnTemplate. It is true
// while the templates could not be read yet.
func (c *Catalog) Templated(addOn string) bool {
	return len(c.variantsOf[addOn]) > 0 || c.unreadFor(addOn)
}

func (c *Catalog) unreadFor(addOn string) bool { return c.templatesUnread && c.usesTemplates[addOn] }

// Variants returns the names of the AddOnTemplates with a declaration of the add-on, in ascending order.
func (c *Catalog) Variants(addOn string) []string { return c.variantsOf[addOn] }

// Template returns the add-on of an AddOnTemplate and its declaration. The last result is false if the template has no
// declaration.
func (c *Catalog) Template(name string) (string, declaration.Declaration, bool) {
	entry, ok := c.templates[name]
	return entry.addOn, entry.declaration, ok
}

// HasTemplate reports whether the catalog has the declaration in this state of an AddOnTemplate. A template whose add-on
// is not deployed from templates does not count.
func (c *Catalog) HasTemplate(template *addonv1alpha1.AddOnTemplate) bool {
	if !c.usesTemplates[template.Spec.AddonName] {
		return true
	}
	entry, ok := c.templates[template.Name]
	if _, declares := declaration.ReadTemplate(template); !declares || !ok {
		return declares == ok
	}
	return entry.text == template.Annotations[addonv1alpha1.TemplateDependenciesAnnotation] && entry.addOn == template.Spec.AddonName
}

// TemplateNames returns the AddOnTemplates with a declaration, in ascending order.
func (c *Catalog) TemplateNames() []string { return slices.Sorted(maps.Keys(c.templates)) }

// TemplateInForce returns the AddOnTemplate whose declaration is in force where the running template runs. It is empty if the
// declaration of the registration is in force. The second result is false while that is unknown. running is empty if no
// template runs. unknown is true if the running template is not known.
func (c *Catalog) TemplateInForce(addOn, running string, unknown bool) (string, bool) {
	switch {
	case c.unreadFor(addOn):
		return "", running == "" && !unknown
	case len(c.variantsOf[addOn]) == 0:
		return "", true
	case unknown:
		return "", false
	}
	if slices.Contains(c.variantsOf[addOn], running) {
		return running, true
	}
	return "", true
}

// variants returns all declarations of an add-on.
func (c *Catalog) variants(addOn string) []variant {
	variants := make([]variant, 0, 1+len(c.variantsOf[addOn]))
	variants = append(variants, variant{declared: c.declarations[addOn]})
	for _, template := range c.variantsOf[addOn] {
		variants = append(variants, variant{template, c.templates[template].declaration})
	}
	return variants
}

// AllValid reports whether all declarations of the add-on can be used, in any template.
func (c *Catalog) AllValid(addOn string) bool {
	return !slices.ContainsFunc(c.variants(addOn), func(v variant) bool { return v.declared.Invalid })
}

// targetsOf returns the targets of all declarations of the add-on. An add-on is in required only if each declaration
// requires it.
func (c *Catalog) targetsOf(addOn string) (dependencies, required []string) {
	declarations := c.variants(addOn)
	if len(declarations) == 1 {
		return targets(declarations[0].declared)
	}
	waited := map[string]int{}
	for _, v := range declarations {
		waitedFor, always := targets(v.declared)
		dependencies = append(dependencies, waitedFor...)
		slices.Sort(always)
		for _, name := range slices.Compact(always) {
			waited[name]++
		}
	}
	for name, count := range waited {
		if count == len(declarations) {
			required = append(required, name)
		}
	}
	return dependencies, required
}

// ChangedTemplates returns the AddOnTemplates whose evaluation differs between the two catalogs, in ascending order. Their
// declarations, their effect, and the versions and providers of their dependencies count.
func (c *Catalog) ChangedTemplates(old *Catalog) []string {
	changed := map[string]bool{}
	for name := range old.templates {
		changed[name] = !c.equalTemplate(old, name)
	}
	for name := range c.templates {
		changed[name] = !c.equalTemplate(old, name)
	}
	maps.DeleteFunc(changed, func(_ string, different bool) bool { return !different })
	return slices.Sorted(maps.Keys(changed))
}

func (c *Catalog) equalTemplate(old *Catalog, name string) bool {
	current, exists := c.templates[name]
	previous, existed := old.templates[name]
	return exists == existed && current.addOn == previous.addOn && c.usesTemplates[current.addOn] == old.usesTemplates[previous.addOn] &&
		c.equalDeclaration(old, current.declaration, previous.declaration)
}
