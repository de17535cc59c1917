package steps

import (
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/plan/installation"
	"open-cluster-management.io/interlock/pkg/text"
)

// chooseInstallers decides for each add-on with a step whether Open Cluster Management installs it, and adds problems. It leaves the
// add-on to Open Cluster Management where Placements install it, because that deletes it from all other clusters.
func (i *installing) chooseInstallers() {
	for _, addOn := range slices.Sorted(maps.Keys(i.because)) {
		name := text.Name(addOn)
		if observed := i.cluster.AddOns[addOn]; !observed.Removed.IsZero() {
			i.problems.Insert(fmt.Sprintf("'%s' is being removed: wait until it is gone", name))
			continue
		}
		if install := i.evaluator.Install(addOn); install.Placed {
			i.byOCM.Insert(addOn)
			i.place(addOn, install)
		}
	}
}

// place adds the finding or problem on an add-on with a step that Placements install.
func (i *installing) place(addOn string, install catalog.Install) {
	name := text.Name(addOn)
	if len(install.Placements) == 0 {
		i.problems.Insert(fmt.Sprintf("'%s' is installed by Placements, and ClusterManagementAddOn '%s' lists none: its owner has to",
			name, name))
		return
	}
	selected, readable := i.cluster.isSelected(addOn)
	if selected {
		i.findings.Insert(fmt.Sprintf("'%s' is about to be installed by Open Cluster Management: a Placement selects the cluster", name))
		return
	}
	if requesters := i.labelRequesters(addOn); len(requesters) > 0 {
		i.findings.Insert(fmt.Sprintf("'%s' is left to Interlock, which labels the ManagedCluster for %s (install: Auto), "+
			"where addon-manager runs with --lifecycle%s", name, text.Names(requesters, " and "), limitText(i.evaluator.Labeled(addOn).Limit())))
		i.awaited[addOn] = append(i.awaited[addOn], requesters...) // it comes with them, not before, so they must not wait for it
		return
	}
	i.problems.Insert(i.unselectedMessage(addOn, readable))
}

// limitText describes the maximal number of managed clusters on which Interlock sets a label.
func limitText(limit int) string {
	if limit < 0 {
		return ""
	}
	return fmt.Sprintf(", on %d clusters at most, because one Placement selects the label", limit)
}

// unselectedMessage tells the user how to make a Placement of an add-on select the cluster.
func (i *installing) unselectedMessage(addOn string, readable bool) string {
	name, label := text.Name(addOn), catalog.InstallLabel(addOn)
	installing, users := i.evaluator.Install(addOn).Placements, userPlacements(i.evaluator.Catalog, addOn)
	_, labeled := i.cluster.Labels[label]
	switch {
	case labeled:
		users = installing
	case len(users) == 0:
		return fmt.Sprintf("'%s' is installed on managed clusters with the label '%s=%s': set it on the ManagedCluster, or install an "+
			"add-on that depends on '%s' with install: Auto", name, text.Name(label), addonv1alpha1.InstallLabelValue, name)
	}
	unread := ""
	if !readable {
		unread = ", and whether it does could not be read"
	}
	if i.evaluator.Consent(addOn) == catalog.ConsentUnknown {
		unread += "; whether its owner consents to installations by Interlock could not be read"
	}
	if problem := i.evaluator.Labeled(addOn).Problem; problem != "" {
		unread += "; " + problem
	}
	return fmt.Sprintf("'%s' is installed by Placements: %s has to select the cluster%s%s", name,
		quotePlacements(users, " or "), unread, i.cluster.absentText(users))
}

// labelRequesters returns the planned add-ons, ascending, for which Interlock labels the ManagedCluster so that an add-on is installed. It
// follows the rules of the hub's controller.
func (i *installing) labelRequesters(addOn string) []string {
	if i.evaluator.Consent(addOn) != catalog.ByLabel || i.cluster.Available != metav1.ConditionTrue ||
		len(i.evaluator.Denying(i.cluster.Labels)) > 0 {
		return nil
	}
	return i.requesters(addOn)
}

// requesters returns the planned add-ons, ascending, whose edges with install Auto need a missing add-on, and lack no required setting.
func (i *installing) requesters(addOn string) []string {
	var requesters []string
	others := maps.Clone(i.planned)
	delete(others, addOn)
	for _, dependent := range slices.Sorted(maps.Keys(others)) {
		findings := settle(i.evaluator, i.cluster, others, dependent)
		if slices.Contains(installation.Needed(i.evaluator.Catalog, findings), addOn) {
			requesters = append(requesters, dependent)
		}
	}
	return requesters
}

// absentText names the Placements that certainly do not exist. It is empty if there are none.
func (c *Cluster) absentText(placements []types.NamespacedName) string {
	if c.Absent == nil {
		return ""
	}
	missing := slices.DeleteFunc(slices.Clone(placements), func(placement types.NamespacedName) bool { return !c.Absent(placement) })
	if len(missing) == 0 {
		return ""
	}
	return fmt.Sprintf("; there is no Placement %s", quotePlacements(missing, " or "))
}

// isSelected reports whether a Placement that installs an add-on selects the cluster. ok is false if that could not be read.
func (c *Cluster) isSelected(addOn string) (selected, ok bool) {
	if c.Selected == nil {
		return false, false
	}
	return c.Selected(addOn)
}

// userPlacements returns the Placements that install an add-on and do not select its InstallLabel.
func userPlacements(registered *catalog.Catalog, addOn string) []types.NamespacedName {
	labeled := registered.Labeled(addOn).Placements
	return slices.DeleteFunc(slices.Clone(registered.Install(addOn).Placements), func(placement types.NamespacedName) bool {
		return slices.Contains(labeled, placement)
	})
}

// placedMessage explains why an add-on that Placements install would be installed again, and tells the user how to prevent that.
func placedMessage(registered *catalog.Catalog, addOn string, readable bool) string {
	name, byLabel := text.Name(addOn), len(registered.Labeled(addOn).Placements) > 0
	users, unread := userPlacements(registered, addOn), ""
	if !readable {
		unread = ", and whether it does could not be read"
	}
	label := text.Name(catalog.InstallLabel(addOn))
	switch remove := fmt.Sprintf("uninstall the add-ons that depend on '%s' with install: Auto, and remove the label", name); {
	case byLabel && len(users) == 0:
		return fmt.Sprintf("'%s' is installed on managed clusters with the label '%s', which the ManagedCluster may not have, else it is "+
			"installed again%s: %s", name, label, unread, remove)
	case byLabel:
		return fmt.Sprintf("'%s' is installed by Placements: %s may not select the cluster, and it may not have the label '%s', else it is "+
			"installed again%s: change the Placement, %s", name, quotePlacements(users, " and "), label, unread, remove)
	}
	return fmt.Sprintf("'%s' is installed by Placements: %s may not select the cluster, else it is installed again%s: "+
		"change the Placement, or take it from ClusterManagementAddOn '%s'", name, quotePlacements(users, " and "), unread, name)
}

// quotePlacements joins the quoted names of Placements.
func quotePlacements(placements []types.NamespacedName, separator string) string {
	var keys []string
	for _, placement := range placements {
		keys = append(keys, placement.String())
	}
	return text.Names(keys, separator)
}
