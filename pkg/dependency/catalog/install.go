package catalog

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
)

// Install is how OCM installs an add-on on managed clusters, as its registration says. It is zero
// for an add-on that its own manager installs.
type Install struct {
	// Manual: it does not.
	Manual bool
	// Placed: on the clusters that Placements select. These are their keys, ascending.
	Placed     bool
	Placements []types.NamespacedName
	// OnDemand: its owner lets Interlock install a Manual one where edges need it.
	OnDemand bool
	// Templates are the AddOnTemplates, ascending, that its registration names.
	Templates []string
	// Bundle: it has no agent, and is available where all that it requires is.
	Bundle bool
	// Approved is on how many managed clusters Interlock may have it installed by one change.
	Approved int
	// RemovalApproved is from how many managed clusters Interlock may have it removed by one change.
	RemovalApproved int
	// WrongApproval and WrongRemovalApproval are what their annotations say, where that is no number.
	WrongApproval, WrongRemovalApproval string
}

// Consent is how the owner of an add-on lets Interlock install it.
type Consent string

const (
	// NoConsent is that of an owner who does not.
	NoConsent Consent = ""
	// ConsentUnknown is that its Placements could not be read yet.
	ConsentUnknown Consent = "Unknown"
	// ByLabel is that OCM installs it on managed clusters with InstallLabel, because a Placement selects them.
	ByLabel Consent = "Label"
	// ByAnnotation is that Interlock creates its ManagedClusterAddOns.
	ByAnnotation Consent = "Annotation"
)

// Consent returns how the owner of a registered add-on lets Interlock install it.
func (c *Catalog) Consent(addOn string) Consent {
	install := c.installs[addOn]
	switch {
	case install.OnDemand:
		return ByAnnotation
	case len(install.Placements) > 0 && c.labeled == nil:
		return ConsentUnknown
	case c.labeled[addOn].Limit() != 0:
		return ByLabel
	}
	return NoConsent
}

// Consents reports whether the owner of a registered add-on is known to let Interlock install it.
func (c *Catalog) Consents(addOn string) bool {
	consent := c.Consent(addOn)
	return consent == ByAnnotation || consent == ByLabel
}

// Installer returns the add-on that an edge with install Auto installs: the one that it is on, or the only one that declares to provide
// its API. It is empty if there is none, or several.
func (c *Catalog) Installer(dependency *addonv1alpha1.AddonDependency) string {
	if dependency.API == nil {
		return declaration.Target(dependency)
	}
	if providers := c.Providers(dependency.API.AddonAPI); len(providers) == 1 {
		return providers[0]
	}
	return ""
}

// IsSet reports whether an edge that is declared wishes settings for an add-on.
func (c *Catalog) IsSet(addOn string) bool {
	sets := func(edge declaration.Edge) bool { return edge.AddOn == addOn && len(edge.Settings) > 0 }
	return slices.ContainsFunc(c.Dependents(addOn), func(dependent string) bool {
		if slices.ContainsFunc(c.Declaration(dependent).Edges, sets) {
			return true
		}
		return slices.ContainsFunc(c.Variants(dependent), func(template string) bool {
			_, of, _ := c.Template(template)
			return slices.ContainsFunc(of.Edges, sets)
		})
	})
}

// InstallOf returns how OCM installs an add-on with that registration.
func InstallOf(addOn *addonv1alpha1.ClusterManagementAddOn) Install {
	install := installOf(addOn)
	install.Bundle, install.Templates = IsBundle(addOn), declaration.NamedTemplates(addOn)
	return install
}

// IsBundle reports whether a registration says that its add-on is a bundle. One with AddOnTemplates has an agent.
func IsBundle(addOn *addonv1alpha1.ClusterManagementAddOn) bool {
	return addOn.Annotations[addonv1alpha1.BundleAnnotation] == "true" && !declaration.UsesTemplates(addOn)
}

func installOf(addOn *addonv1alpha1.ClusterManagementAddOn) Install {
	// As OCM's install controller: an add-on with another lifecycle is left to its own manager.
	lifecycle, set := addOn.Annotations[ocmv1alpha1.AddonLifecycleAnnotationKey]
	if set && lifecycle != ocmv1alpha1.AddonLifecycleAddonManagerAnnotationValue {
		return Install{}
	}
	strategy := addOn.Spec.InstallStrategy
	install := Install{
		Manual: strategy.Type == ocmv1alpha1.AddonInstallStrategyManual,
		Placed: strategy.Type == ocmv1alpha1.AddonInstallStrategyPlacements,
	}
	install.Approved, install.WrongApproval = approval(addOn, addonv1alpha1.ApproveInstallAnnotation)
	install.RemovalApproved, install.WrongRemovalApproval = approval(addOn, addonv1alpha1.ApproveRemovalAnnotation)
	install.OnDemand = install.Manual && addOn.Annotations[addonv1alpha1.InstallOnDemandAnnotation] == "true"
	if !install.Placed {
		return install
	}
	for _, placement := range strategy.Placements {
		install.Placements = append(install.Placements, types.NamespacedName{Namespace: placement.Namespace, Name: placement.Name})
	}
	slices.SortFunc(install.Placements, func(a, b types.NamespacedName) int { return strings.Compare(a.String(), b.String()) })
	return install
}

// approval is the number of managed clusters that an annotation approves; 0 without one. It also returns what the annotation says, if that
// is no number.
func approval(addOn *addonv1alpha1.ClusterManagementAddOn, annotation string) (approved int, wrong string) {
	says := addOn.Annotations[annotation]
	approved, err := strconv.Atoi(says)
	if err != nil {
		return 0, says
	}
	return approved, ""
}

// Drops reports whether OCM removes the add-on from managed clusters where it was installed in the way before: from those
// that only a Placement selects which is not listed any more, or if it was installed in another way, from all that no
// Placement selects.
func (i Install) Drops(before Install) bool {
	return i.Placed && (!before.Placed || slices.ContainsFunc(before.Placements, func(one types.NamespacedName) bool {
		return !slices.Contains(i.Placements, one)
	}))
}

func (i Install) equal(other Install) bool {
	return i.alike(other) && i.Bundle == other.Bundle && slices.Equal(i.Templates, other.Templates)
}

// alike reports whether OCM installs the add-on in the same way.
func (i Install) alike(other Install) bool {
	return i.Manual == other.Manual && i.OnDemand == other.OnDemand && i.Approved == other.Approved &&
		i.RemovalApproved == other.RemovalApproved && i.WrongApproval == other.WrongApproval &&
		i.WrongRemovalApproval == other.WrongRemovalApproval && i.Placed == other.Placed && slices.Equal(i.Placements, other.Placements)
}

// Install returns how OCM installs a registered add-on.
func (c *Catalog) Install(addOn string) Install { return c.installs[addOn] }

// PlacedBy returns the add-ons, ascending, that a Placement installs and others depend on.
func (c *Catalog) PlacedBy(placement types.NamespacedName) (addOns []string) {
	for addOn, install := range c.installs {
		if slices.Contains(install.Placements, placement) && len(c.Dependents(addOn)) > 0 {
			addOns = append(addOns, addOn)
		}
	}
	slices.Sort(addOns)
	return addOns
}

// Reworded returns the add-ons, ascending, that depend on one which is registered, or installed
// by OCM, in another way than in the catalog before, or whose dependencies policies keep from being
// installed in another way. Their verdicts are the same, but where the dependency is not installed,
// another explanation holds.
func (c *Catalog) Reworded(before *Catalog) []string {
	reworded := map[string]bool{}
	for _, registered := range []map[string]Install{c.installs, before.installs} {
		for addOn := range registered {
			if c.Registered(addOn) == before.Registered(addOn) && c.Install(addOn).alike(before.Install(addOn)) &&
				c.Consent(addOn) == before.Consent(addOn) && c.Labeled(addOn).equal(before.Labeled(addOn)) {
				continue
			}
			for _, dependent := range c.Dependents(addOn) {
				reworded[dependent] = true
			}
		}
	}
	for addOn := range c.declarations {
		if !c.policies.InstallsAlike(before.policies) && c.installsFor(addOn) {
			reworded[addOn] = true
		}
	}
	return slices.Sorted(maps.Keys(reworded))
}
