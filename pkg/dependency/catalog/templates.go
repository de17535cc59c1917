package catalog

import (
	"maps"
	"slices"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
)

// What an AddOnTemplate declares counts for the add-on that it belongs to, on the clusters
// where it runs. So an add-on has several declarations, of which one counts on each
// cluster: that of the template that runs there, else that of its registration.

// Templates are the AddOnTemplates of a hub.
type Templates struct {
	Items []addonv1alpha1.AddOnTemplate
	// Unread: they could not be read yet.
	Unread bool
}

// templated is what a template declares.
type templated struct {
	addOn, text string
	declaration declaration.Declaration
}

// variant is one of the declarations of an add-on. That of its registration has no template.
type variant struct {
	template string
	declared declaration.Declaration
}

// addTemplates reads the templates that declare something, unless the catalog before has
// them.
func (c *Catalog) addTemplates(addOns []addonv1alpha1.ClusterManagementAddOn, all Templates, before *Catalog) {
	c.templates, c.variantsOf, c.usesTemplates = map[string]templated{}, map[string][]string{}, map[string]bool{}
	c.templatesUnread = all.Unread
	for i := range addOns {
		if declaration.UsesTemplates(&addOns[i]) {
			c.usesTemplates[addOns[i].Name] = true
		}
	}
	for i := range all.Items {
		template := &all.Items[i]
		text := template.Annotations[addonv1alpha1.TemplateDependenciesAnnotation]
		entry, known := before.templates[template.Name]
		if !known || entry.text != text {
			read, declares := declaration.ReadTemplate(template)
			if !declares {
				continue
			}
			entry.text, entry.declaration = text, read
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

// Templated reports whether what the add-on declares on a cluster depends on the
// AddOnTemplate that runs there, or may do so: the templates could not be read yet.
func (c *Catalog) Templated(addOn string) bool {
	return len(c.variantsOf[addOn]) > 0 || c.unreadFor(addOn)
}

func (c *Catalog) unreadFor(addOn string) bool { return c.templatesUnread && c.usesTemplates[addOn] }

// Variants returns the names, ascending, of the AddOnTemplates that declare something of
// the add-on.
func (c *Catalog) Variants(addOn string) []string { return c.variantsOf[addOn] }

// Template returns the add-on that an AddOnTemplate belongs to, and what it declares. declares is
// false for one that declares nothing.
func (c *Catalog) Template(name string) (addOn string, declared declaration.Declaration, declares bool) {
	entry, declares := c.templates[name]
	return entry.addOn, entry.declaration, declares
}

// HasTemplate reports whether the catalog has what an AddOnTemplate declares, in that state of it. That of an add-on which is not deployed
// from templates counts nowhere.
func (c *Catalog) HasTemplate(template *addonv1alpha1.AddOnTemplate) bool {
	if !c.usesTemplates[template.Spec.AddonName] {
		return true
	}
	entry, known := c.templates[template.Name]
	if _, declares := declaration.ReadTemplate(template); !declares || !known {
		return declares == known
	}
	return entry.text == template.Annotations[addonv1alpha1.TemplateDependenciesAnnotation] && entry.addOn == template.Spec.AddonName
}

// TemplateNames returns the AddOnTemplates that declare something, ascending.
func (c *Catalog) TemplateNames() []string { return slices.Sorted(maps.Keys(c.templates)) }

// Counting returns the AddOnTemplate whose declaration counts where the named one runs;
// empty: the registration's counts. known is false if that cannot be said yet. running is
// empty where no template runs, and unknown is set where it is not known which one does.
func (c *Catalog) Counting(addOn, running string, unknown bool) (template string, known bool) {
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

// variants are all declarations of an add-on.
func (c *Catalog) variants(addOn string) []variant {
	all := make([]variant, 0, 1+len(c.variantsOf[addOn]))
	all = append(all, variant{declared: c.declarations[addOn]})
	for _, template := range c.variantsOf[addOn] {
		all = append(all, variant{template, c.templates[template].declaration})
	}
	return all
}

// AllKnown reports whether it is known what the add-on declares, by whatever template.
func (c *Catalog) AllKnown(addOn string) bool {
	return !slices.ContainsFunc(c.variants(addOn), func(v variant) bool { return v.declared.Invalid })
}

// targetsOf are the add-ons that edges of the add-on are on, and those that are always waited
// for: by each of its declarations.
func (c *Catalog) targetsOf(addOn string) (all, required []string) {
	declarations := c.variants(addOn)
	if len(declarations) == 1 {
		return targets(declarations[0].declared)
	}
	waited := map[string]int{}
	for _, v := range declarations {
		on, always := targets(v.declared)
		all = append(all, on...)
		slices.Sort(always)
		for _, name := range slices.Compact(always) {
			waited[name]++
		}
	}
	for name, by := range waited {
		if by == len(declarations) {
			required = append(required, name)
		}
	}
	return all, required
}

// ChangedTemplates returns the AddOnTemplates, ascending, where what is declared, whether it
// counts, or the versions and providers of what it depends on, differ between the two catalogs.
func (c *Catalog) ChangedTemplates(before *Catalog) []string {
	changed := map[string]bool{}
	for name := range before.templates {
		changed[name] = !c.equalTemplate(before, name)
	}
	for name := range c.templates {
		changed[name] = !c.equalTemplate(before, name)
	}
	maps.DeleteFunc(changed, func(_ string, differs bool) bool { return !differs })
	return slices.Sorted(maps.Keys(changed))
}

func (c *Catalog) equalTemplate(before *Catalog, name string) bool {
	is, declares := c.templates[name]
	was, did := before.templates[name]
	return declares == did && is.addOn == was.addOn && c.usesTemplates[is.addOn] == before.usesTemplates[was.addOn] &&
		c.equalDeclaration(before, is.declaration, was.declaration)
}
