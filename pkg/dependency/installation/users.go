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
func Uses(declared *catalog.Catalog, dependent, addOn string) bool {
	for edge := range edges(declared, dependent) {
		if isOn(declared, edge, addOn) {
			return true
		}
	}
	return false
}

// MayUse reports whether an add-on uses another one, or may use it because its declaration is not known.
func MayUse(declared *catalog.Catalog, dependent, addOn string) bool {
	return !declared.AllKnown(dependent) || declared.TemplatesUnread(dependent) || Uses(declared, dependent, addOn)
}

// Users returns the add-ons that keep another add-on installed on their managed clusters, in ascending order.
func Users(declared *catalog.Catalog, addOn string) []string {
	var users []string
	for _, user := range declared.AddOns() {
		if user != addOn && MayUse(declared, user, addOn) {
			users = append(users, user)
		}
	}
	return users
}

// Removable returns the add-ons that are removed from managed clusters where no add-on uses them, in ascending order. All
// edges that install them request their removal, and there is at least one such edge.
func Removable(declared *catalog.Catalog) []string {
	removed, kept := sets.New[string](), sets.New[string]()
	for _, addOn := range declared.AddOns() {
		for edge := range edges(declared, addOn) {
			switch installed := declared.Installer(&edge.Dependency); {
			case installed == "" || !declaration.Installs(&edge.Dependency):
			case declaration.Removes(&edge.Dependency):
				removed.Insert(installed)
			default:
				kept.Insert(installed)
			}
		}
	}
	return sets.List(removed.Difference(kept))
}

// Released returns the add-ons that an add-on uses by its declaration, but not on its managed cluster, in ascending order.
// All its edges on them request their removal, and do not apply there.
func Released(declared *catalog.Catalog, dependent string, findings []evaluation.Finding) []string {
	if len(declared.Declarations(dependent)) != 1 || !declared.AllKnown(dependent) {
		return nil // the findings are those of one declaration only
	}
	released := sets.New[string]()
	for i := range findings {
		if of := findings[i].Dependency; of != nil && findings[i].Verdict == evaluation.NotApplicable && declaration.Removes(of) {
			released.Insert(declared.Installer(of))
		}
	}
	for i := range findings {
		of := findings[i].Dependency
		if of == nil || findings[i].Verdict == evaluation.NotApplicable && declaration.Removes(of) {
			continue
		}
		for _, end := range evaluation.Named(of) {
			released = released.Difference(sets.New(declared.Satisfying(end.Dependency)...))
		}
	}
	released.Delete("")
	return sets.List(released)
}

// MayRelease reports whether the use of another add-on depends on the managed cluster: an edge on it requests its removal
// and does not apply everywhere.
func MayRelease(declared *catalog.Catalog, dependent, addOn string) bool {
	return len(declared.Declarations(dependent)) == 1 && declared.AllKnown(dependent) &&
		removes(declared, dependent, func(installed string) bool { return installed == addOn })
}

// Decided reports whether an add-on may release others, and the findings on a managed cluster show which of them.
func Decided(declared *catalog.Catalog, dependent string, findings []evaluation.Finding) bool {
	return removes(declared, dependent, func(string) bool { return true }) && !slices.ContainsFunc(findings, func(f evaluation.Finding) bool {
		return f.Verdict == evaluation.Held && (f.Dependency == nil || declaration.Removes(f.Dependency))
	})
}

// removes reports whether an edge that does not apply everywhere requests the removal of a matching add-on.
func removes(declared *catalog.Catalog, dependent string, fits func(installed string) bool) bool {
	for edge := range edges(declared, dependent) {
		if edge.When != nil && declaration.Removes(&edge.Dependency) && fits(declared.Installer(&edge.Dependency)) {
			return true
		}
	}
	return false
}

// edges yields the edges of all declarations of an add-on, and each alternative as an edge.
func edges(declared *catalog.Catalog, addOn string) func(yield func(*declaration.Edge) bool) {
	return func(yield func(*declaration.Edge) bool) {
		for _, one := range declared.Declarations(addOn) {
			for e := range one.Edges {
				for end := range one.Edges[e].Ends() {
					if !yield(end) {
						return
					}
				}
			}
		}
	}
}

func isOn(declared *catalog.Catalog, edge *declaration.Edge, addOn string) bool {
	return !declaration.Conflicts(&edge.Dependency) && slices.Contains(declared.Satisfying(&edge.Dependency), addOn)
}

// Keeps reports whether an edge of any registered add-on keeps the add-on that it installed.
func Keeps(declared *catalog.Catalog, addOn string) bool {
	for _, dependent := range declared.AddOns() {
		for edge := range edges(declared, dependent) {
			if of := &edge.Dependency; declaration.Installs(of) && !declaration.Removes(of) && declared.Installer(of) == addOn {
				return true
			}
		}
	}
	return false
}

// UseBy returns the use of an add-on by another one on its managed cluster, by its findings there. The result is Unused if
// the user declares the use, but has released the add-on; see Released.
func UseBy(declared *catalog.Catalog, user, addOn string, findings []evaluation.Finding) Use {
	switch {
	case slices.Contains(Released(declared, user, findings), addOn):
		return Unused
	case declared.TemplatesUnread(user), MayRelease(declared, user, addOn) && !Decided(declared, user, findings):
		return UseUnknown
	}
	return Used
}

// RequestBy returns the requested removal of another add-on that an add-on requests with install: Auto, by its findings on
// the managed cluster. It is empty without such a request. The second result is true if the add-on does not work without
// the other one.
func RequestBy(
	declared *catalog.Catalog, addOn string, findings []evaluation.Finding,
) (addonv1alpha1.DependencyRemoval, bool) {
	var removal addonv1alpha1.DependencyRemoval
	for i := range findings {
		of := findings[i].Dependency
		if of == nil || !declaration.Installs(of) || declared.Installer(of) != addOn || !applies(findings[i].Verdict) {
			continue
		}
		if removal != addonv1alpha1.DependencyRemovalKeep {
			removal = addonv1alpha1.DependencyRemovalKeep
			if declaration.Removes(of) {
				removal = addonv1alpha1.DependencyRemovalWithLastDependent
			}
		}
	}
	return removal, removal != "" && slices.Contains(Needed(declared, findings), addOn)
}

// applies reports whether an edge with this verdict has any effect.
func applies(verdict evaluation.Verdict) bool {
	return verdict != evaluation.NotApplicable && verdict != evaluation.Waived && verdict != evaluation.Cycle
}

// Installable returns the add-ons that any declaration of an add-on uses and that their owners let Interlock install, in
// ascending order.
func Installable(declared *catalog.Catalog, dependent string) []string {
	var used []string
	for edge := range edges(declared, dependent) {
		for _, addOn := range declared.Satisfying(&edge.Dependency) {
			if declared.Consents(addOn) {
				used = append(used, addOn)
			}
		}
	}
	slices.Sort(used)
	return slices.Compact(used)
}
