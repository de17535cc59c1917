package installation

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/sets"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
)

// Uses reports whether any declaration of an add-on has an edge on another add-on, or on an API that it provides. A
// conflict does not count, because the dependent works without that add-on.
func Uses(c *catalog.Catalog, dependent, addOn string) bool {
	for edge := range edges(c, dependent) {
		if isOn(c, edge, addOn) {
			return true
		}
	}
	return false
}

// MayUse reports whether an add-on uses another one, or may use it because its declaration is not known.
func MayUse(c *catalog.Catalog, dependent, addOn string) bool {
	return !c.AllValid(dependent) || c.TemplatesUnread(dependent) || Uses(c, dependent, addOn)
}

// Users returns the add-ons that keep another add-on installed on their managed clusters, in ascending order.
func Users(c *catalog.Catalog, addOn string) []string {
	var users []string
	for _, user := range c.AddOns() {
		if user != addOn && MayUse(c, user, addOn) {
			users = append(users, user)
		}
	}
	return users
}

// Removable returns the add-ons that are removed from managed clusters where no add-on uses them, in ascending order. All
// edges that install them request their removal, and there is at least one such edge.
func Removable(c *catalog.Catalog) []string {
	removable, permanent := sets.New[string](), sets.New[string]()
	for _, addOn := range c.AddOns() {
		for edge := range edges(c, addOn) {
			switch target := c.Installer(&edge.Dependency); {
			case target == "" || !declaration.Installs(&edge.Dependency):
			case declaration.Removes(&edge.Dependency):
				removable.Insert(target)
			default:
				permanent.Insert(target)
			}
		}
	}
	return sets.List(removable.Difference(permanent))
}

// Released returns the add-ons that an add-on uses by its declaration, but not on its managed cluster, in ascending order.
// All its edges on them request their removal, and do not apply there.
func Released(c *catalog.Catalog, dependent string, findings []evaluation.Finding) []string {
	if len(c.Declarations(dependent)) != 1 || !c.AllValid(dependent) {
		return nil // the findings belong to one declaration only
	}
	result := sets.New[string]()
	for i := range findings {
		dependency := findings[i].Dependency
		if dependency != nil && findings[i].Verdict == evaluation.NotApplicable && declaration.Removes(dependency) {
			result.Insert(c.Installer(dependency))
		}
	}
	for i := range findings {
		dependency := findings[i].Dependency
		if dependency == nil || findings[i].Verdict == evaluation.NotApplicable && declaration.Removes(dependency) {
			continue
		}
		for _, end := range evaluation.Named(dependency) {
			result = result.Difference(sets.New(c.Satisfying(end.Dependency)...))
		}
	}
	result.Delete("")
	return sets.List(result)
}

// MayRelease reports whether the use of another add-on depends on the managed cluster: an edge on it requests its removal
// and does not apply everywhere.
func MayRelease(c *catalog.Catalog, dependent, addOn string) bool {
	return len(c.Declarations(dependent)) == 1 && c.AllValid(dependent) &&
		removes(c, dependent, func(target string) bool { return target == addOn })
}

// Decided reports whether an add-on may release others, and the findings on a managed cluster show which of them.
func Decided(c *catalog.Catalog, dependent string, findings []evaluation.Finding) bool {
	return removes(c, dependent, func(string) bool { return true }) && !slices.ContainsFunc(findings, func(f evaluation.Finding) bool {
		return f.Verdict == evaluation.Held && (f.Dependency == nil || declaration.Removes(f.Dependency))
	})
}

// removes reports whether an edge that does not apply everywhere requests the removal of a matching add-on.
func removes(c *catalog.Catalog, dependent string, match func(installed string) bool) bool {
	for edge := range edges(c, dependent) {
		if edge.When != nil && declaration.Removes(&edge.Dependency) && match(c.Installer(&edge.Dependency)) {
			return true
		}
	}
	return false
}

// edges yields the edges of all declarations of an add-on, and each alternative as an edge.
func edges(c *catalog.Catalog, addOn string) func(yield func(*declaration.Edge) bool) {
	return func(yield func(*declaration.Edge) bool) {
		for _, d := range c.Declarations(addOn) {
			for e := range d.Edges {
				for end := range d.Edges[e].Ends() {
					if !yield(end) {
						return
					}
				}
			}
		}
	}
}

func isOn(c *catalog.Catalog, edge *declaration.Edge, addOn string) bool {
	return !declaration.Conflicts(&edge.Dependency) && slices.Contains(c.Satisfying(&edge.Dependency), addOn)
}

// Keeps reports whether an edge of any registered add-on keeps the add-on that it installed.
func Keeps(c *catalog.Catalog, addOn string) bool {
	for _, dependent := range c.AddOns() {
		for edge := range edges(c, dependent) {
			dependency := &edge.Dependency
			if declaration.Installs(dependency) && !declaration.Removes(dependency) && c.Installer(dependency) == addOn {
				return true
			}
		}
	}
	return false
}

// UseBy returns the use of an add-on by another one on its managed cluster, by its findings there. The result is Unused if
// the user declares the use, but has released the add-on; see Released.
func UseBy(c *catalog.Catalog, user, addOn string, findings []evaluation.Finding) Use {
	switch {
	case slices.Contains(Released(c, user, findings), addOn):
		return Unused
	case c.TemplatesUnread(user), MayRelease(c, user, addOn) && !Decided(c, user, findings):
		return UseUnknown
	}
	return Used
}

// RequestBy returns the requested removal of another add-on that an add-on requests with install: Auto, by its findings on
// the managed cluster. It is empty without such a request. The second result is true if the add-on does not work without
// the other one.
func RequestBy(
	c *catalog.Catalog, addOn string, findings []evaluation.Finding,
) (addonv1alpha1.DependencyRemoval, bool) {
	var removal addonv1alpha1.DependencyRemoval
	for i := range findings {
		dependency := findings[i].Dependency
		if dependency == nil || !declaration.Installs(dependency) || c.Installer(dependency) != addOn || !applies(findings[i].Verdict) {
			continue
		}
		if removal != addonv1alpha1.DependencyRemovalKeep {
			removal = addonv1alpha1.DependencyRemovalKeep
			if declaration.Removes(dependency) {
				removal = addonv1alpha1.DependencyRemovalWithLastDependent
			}
		}
	}
	return removal, removal != "" && slices.Contains(Needed(c, findings), addOn)
}

// applies reports whether an edge with this verdict has any effect.
func applies(verdict evaluation.Verdict) bool {
	return verdict != evaluation.NotApplicable && verdict != evaluation.Waived && verdict != evaluation.Cycle
}

// Installable returns the add-ons that any declaration of an add-on uses and that their owners let Interlock install, in
// ascending order.
func Installable(c *catalog.Catalog, dependent string) []string {
	var addOns []string
	for edge := range edges(c, dependent) {
		for _, addOn := range c.Satisfying(&edge.Dependency) {
			if c.Consents(addOn) {
				addOns = append(addOns, addOn)
			}
		}
	}
	slices.Sort(addOns)
	return slices.Compact(addOns)
}
