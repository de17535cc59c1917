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

// Install is the way in which OCM installs an add-on on managed clusters, by its registration. It is zero for an add-on
// that its own manager installs.
type Install struct {
	// Manual is true if OCM does not install it.
	Manual bool
	// Placed is true if OCM installs it on the clusters that Placements select. Placements has their keys in ascending
	// order.
	Placed     bool
	Placements []types.NamespacedName
	// OnDemand is true if its owner lets Interlock install a Manual add-on where edges need it.
	OnDemand bool
	// Templates has the AddOnTemplates that its registration names, in ascending order.
	Templates []string
	// Bundle is true for an add-on without an agent. It is available where all its dependencies are satisfied.
	Bundle bool
	// Approved is the number of managed clusters on which one change may install it.
	Approved int
	// RemovalApproved is the number of managed clusters from which one change may remove it.
	RemovalApproved int
	// WrongApproval and WrongRemovalApproval are the values of these annotations that are not numbers.
	WrongApproval, WrongRemovalApproval string
}

// Consent is the way in which the owner of an add-on lets Interlock install it.
type Consent string

const (
	// NoConsent means that the owner does not let Interlock install it.
	NoConsent Consent = ""
	// ConsentUnknown means that its Placements could not be read yet.
	ConsentUnknown Consent = "Unknown"
	// ByLabel means that Interlock labels managed clusters with InstallLabel, and a Placement selects them.
	ByLabel Consent = "Label"
	// ByAnnotation means that Interlock creates its ManagedClusterAddOns.
	ByAnnotation Consent = "Annotation"
)

// Consent returns the consent of the owner of a registered add-on.
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

// Consents reports whether the owner of a registered add-on certainly lets Interlock install it.
func (c *Catalog) Consents(addOn string) bool {
	consent := c.Consent(addOn)
	return consent == ByAnnotation || consent == ByLabel
}

// Installer returns the add-on that an edge with install Auto installs: its add-on, or the only provider of its API. It is
// empty if there is no such add-on, or several.
func (c *Catalog) Installer(dependency *addonv1alpha1.AddonDependency) string {
	if dependency.API == nil {
		return declaration.Target(dependency)
	}
	if providers := c.Providers(dependency.API.AddonAPI); len(providers) == 1 {
		return providers[0]
	}
	return ""
}

// IsSet reports whether a declared edge requests settings for an add-on.
func (c *Catalog) IsSet(addOn string) bool {
	sets := func(edge declaration.Edge) bool { return edge.AddOn == addOn && len(edge.Settings) > 0 }
	return slices.ContainsFunc(c.Dependents(addOn), func(dependent string) bool {
		if slices.ContainsFunc(c.Declaration(dependent).Edges, sets) {
			return true
		}
		return slices.ContainsFunc(c.Variants(dependent), func(template string) bool {
			_, d, _ := c.Template(template)
			return slices.ContainsFunc(d.Edges, sets)
		})
	})
}

// InstallOf returns the way in which OCM installs the add-on of a registration.
func InstallOf(addOn *addonv1alpha1.ClusterManagementAddOn) Install {
	install := installOf(addOn)
	install.Bundle, install.Templates = IsBundle(addOn), declaration.NamedTemplates(addOn)
	return install
}

// IsBundle reports whether a registration declares its add-on as a bundle. An add-on with AddOnTemplates has an agent, so
// it is not a bundle.
func IsBundle(addOn *addonv1alpha1.ClusterManagementAddOn) bool {
	return addOn.Annotations[addonv1alpha1.BundleAnnotation] == "true" && !declaration.UsesTemplates(addOn)
}

func installOf(addOn *addonv1alpha1.ClusterManagementAddOn) Install {
	// OCM's install controller leaves an add-on with another lifecycle to its own manager too.
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

// approval returns the number of managed clusters that an annotation approves. It is 0 without the annotation. The second
// result is the value of the annotation if it is not a number.
func approval(addOn *addonv1alpha1.ClusterManagementAddOn, annotation string) (int, string) {
	value := addOn.Annotations[annotation]
	approved, err := strconv.Atoi(value)
	if err != nil {
		return 0, value
	}
	return approved, ""
}

// Drops reports whether OCM removes the add-on from managed clusters because its installation changed. If Placements
// installed it before, OCM removes it from clusters that only removed Placements select. Otherwise, OCM removes it from
// all clusters that no Placement selects.
func (i Install) Drops(old Install) bool {
	return i.Placed && (!old.Placed || slices.ContainsFunc(old.Placements, func(placement types.NamespacedName) bool {
		return !slices.Contains(i.Placements, placement)
	}))
}

func (i Install) equal(b Install) bool {
	return i.alike(b) && i.Bundle == b.Bundle && slices.Equal(i.Templates, b.Templates)
}

// alike reports whether OCM installs the add-on in the same way.
func (i Install) alike(b Install) bool {
	return i.Manual == b.Manual && i.OnDemand == b.OnDemand && i.Approved == b.Approved &&
		i.RemovalApproved == b.RemovalApproved && i.WrongApproval == b.WrongApproval &&
		i.WrongRemovalApproval == b.WrongRemovalApproval && i.Placed == b.Placed && slices.Equal(i.Placements, b.Placements)
}

// Install returns the way in which OCM installs a registered add-on.
func (c *Catalog) Install(addOn string) Install { return c.installs[addOn] }

// PlacedBy returns the add-ons that a Placement installs and others depend on, in ascending order.
func (c *Catalog) PlacedBy(placement types.NamespacedName) []string {
	var addOns []string
	for addOn, install := range c.installs {
		if slices.Contains(install.Placements, placement) && len(c.Dependents(addOn)) > 0 {
			addOns = append(addOns, addOn)
		}
	}
	slices.Sort(addOns)
	return addOns
}

// Reworded returns the add-ons whose verdicts are equal in the catalog before, but have other explanations, in ascending
// order. The registration or the installation of a dependency changed, or policies that deny its installation did.
func (c *Catalog) Reworded(old *Catalog) []string {
	reworded := map[string]bool{}
	for _, registered := range []map[string]Install{c.installs, old.installs} {
		for addOn := range registered {
			if c.Registered(addOn) == old.Registered(addOn) && c.Install(addOn).alike(old.Install(addOn)) &&
				c.Consent(addOn) == old.Consent(addOn) && c.Labeled(addOn).equal(old.Labeled(addOn)) {
				continue
			}
			for _, dependent := range c.Dependents(addOn) {
				reworded[dependent] = true
			}
		}
	}
	for addOn := range c.declarations {
		if !c.policies.InstallsAlike(old.policies) && c.installsFor(addOn) {
			reworded[addOn] = true
		}
	}
	return slices.Sorted(maps.Keys(reworded))
}
