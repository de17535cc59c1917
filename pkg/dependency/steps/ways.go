package steps

import (
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/installation"
	"open-cluster-management.io/interlock/pkg/text"
)

// ways decides what installs each add-on with a step, and adds why one cannot be installed. An add-on that Placements install is
// left to Open Cluster Management, which deletes it from all other clusters.
func (i *installing) ways() {
	for _, addOn := range slices.Sorted(maps.Keys(i.because)) {
		name := text.Name(addOn)
		if observed := i.on.AddOns[addOn]; !observed.Removed.IsZero() {
			i.problems.Insert(fmt.Sprintf("'%s' is being removed: wait until it is gone", name))
			continue
		}
		if install := i.declared.Install(addOn); install.Placed {
			i.byOCM.Insert(addOn)
			i.place(addOn, install)
		}
	}
}

// place adds what becomes of an add-on with a step that Placements install, and why it cannot be installed.
func (i *installing) place(addOn string, install catalog.Install) {
	name := text.Name(addOn)
	if len(install.Placements) == 0 {
		i.problems.Insert(fmt.Sprintf("'%s' is installed by Placements, and ClusterManagementAddOn '%s' lists none: its owner has to", name, name))
		return
	}
	selected, known := i.on.isSelected(addOn)
	if selected {
		i.findings.Insert(fmt.Sprintf("'%s' is about to be installed by Open Cluster Management: a Placement selects the cluster", name))
		return
	}
	if asking := i.asking(addOn); len(asking) > 0 {
		i.findings.Insert(fmt.Sprintf("'%s' is left to Interlock, which labels the ManagedCluster for %s (install: Auto), "+
			"where addon-manager runs with --lifecycle%s", name, text.Names(asking, " and "), atMost(i.declared.Labeled(addOn).Limit())))
		i.reached[addOn] = append(i.reached[addOn], asking...) // it comes with them, not before, so they may not wait for it
		return
	}
	i.problems.Insert(i.unselected(addOn, known))
}

// atMost says on how many managed clusters Interlock sets a label.
func atMost(limit int) string {
	if limit < 0 {
		return ""
	}
	return fmt.Sprintf(", on %d clusters at most, because one Placement selects the label", limit)
}

// unselected says what has to be done so that a Placement of an add-on selects the cluster.
func (i *installing) unselected(addOn string, known bool) string {
	name, label := text.Name(addOn), catalog.InstallLabel(addOn)
	all, users := i.declared.Install(addOn).Placements, ofUsers(i.declared.Catalog, addOn)
	_, labeled := i.on.Labels[label]
	switch {
	case labeled:
		users = all
	case len(users) == 0:
		return fmt.Sprintf("'%s' is installed on managed clusters with the label '%s=%s': set it on the ManagedCluster, or install an "+
			"add-on that depends on '%s' with install: Auto", name, text.Name(label), addonv1alpha1.InstallLabelValue, name)
	}
	unread := ""
	if !known {
		unread = ", and whether it does could not be read"
	}
	if i.declared.Consent(addOn) == catalog.ConsentUnknown {
		unread += "; whether its owner consents to installations by Interlock could not be read"
	}
	if problem := i.declared.Labeled(addOn).Problem; problem != "" {
		unread += "; " + problem
	}
	return fmt.Sprintf("'%s' is installed by Placements: %s has to select the cluster%s%s", name, placements(users, " or "), unread, i.on.absent(users))
}

// asking are the add-ons, ascending, for which Interlock labels the ManagedCluster, so that an add-on is installed: they are there, or have a
// step. The rules are those of the hub.
func (i *installing) asking(addOn string) (asking []string) {
	if i.declared.Consent(addOn) != catalog.ByLabel || i.on.Available != metav1.ConditionTrue || len(i.declared.Denying(i.on.Labels)) > 0 {
		return nil
	}
	without := maps.Clone(i.then)
	delete(without, addOn)
	for _, dependent := range slices.Sorted(maps.Keys(without)) {
		findings := settledFinding(i.declared, i.on, without, dependent)
		if slices.Contains(installation.Needed(i.declared.Catalog, findings), addOn) {
			asking = append(asking, dependent)
		}
	}
	return asking
}

// absent says which Placements do not exist; empty: none is known not to.
func (c *Cluster) absent(all []types.NamespacedName) string {
	if c.Absent == nil {
		return ""
	}
	missing := slices.DeleteFunc(slices.Clone(all), func(one types.NamespacedName) bool { return !c.Absent(one) })
	if len(missing) == 0 {
		return ""
	}
	return fmt.Sprintf("; there is no Placement %s", placements(missing, " or "))
}

// isSelected reports whether a Placement that installs an add-on selects the cluster, and whether that is known.
func (c *Cluster) isSelected(addOn string) (selected, known bool) {
	if c.Selected == nil {
		return false, false
	}
	return c.Selected(addOn)
}

// ofUsers are the Placements that install an add-on, without those that select its InstallLabel.
func ofUsers(declared *catalog.Catalog, addOn string) []types.NamespacedName {
	labeled := declared.Labeled(addOn).Placements
	return slices.DeleteFunc(slices.Clone(declared.Install(addOn).Placements), func(one types.NamespacedName) bool {
		return slices.Contains(labeled, one)
	})
}

// stays says why a removal would not last where Placements install an add-on, and what helps.
func stays(declared *catalog.Catalog, addOn string, known bool) string {
	name, byLabel := text.Name(addOn), len(declared.Labeled(addOn).Placements) > 0
	users, unread := ofUsers(declared, addOn), ""
	if !known {
		unread = ", and whether it does could not be read"
	}
	label := text.Name(catalog.InstallLabel(addOn))
	switch remove := fmt.Sprintf("uninstall the add-ons that depend on '%s' with install: Auto, and remove the label", name); {
	case byLabel && len(users) == 0:
		return fmt.Sprintf("'%s' is installed on managed clusters with the label '%s', which the ManagedCluster may not have, else it is "+
			"installed again%s: %s", name, label, unread, remove)
	case byLabel:
		return fmt.Sprintf("'%s' is installed by Placements: %s may not select the cluster, and it may not have the label '%s', else it is "+
			"installed again%s: change the Placement, %s", name, placements(users, " and "), label, unread, remove)
	}
	return fmt.Sprintf("'%s' is installed by Placements: %s may not select the cluster, else it is installed again%s: "+
		"change the Placement, or take it from ClusterManagementAddOn '%s'", name, placements(users, " and "), unread, name)
}

// placements are Placements, quoted.
func placements(all []types.NamespacedName, separator string) string {
	var keys []string
	for _, placement := range all {
		keys = append(keys, placement.String())
	}
	return text.Names(keys, separator)
}
