package steps

import (
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

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
		i.findings.Insert(fmt.Sprintf("'%s' is left to Interlock, which has it installed for %s (install: Auto) through its own Placement, "+
			"where addon-manager runs with --lifecycle", name, text.Names(asking, " and ")))
		i.reached[addOn] = append(i.reached[addOn], asking...) // it comes with them, not before, so they may not wait for it
		return
	}
	users := ofUsers(i.declared.Catalog, addOn)
	if len(users) == 0 {
		i.problems.Insert(fmt.Sprintf("'%s' is installed by Placements, and ClusterManagementAddOn '%s' lists only that of Interlock: "+
			"list a Placement that selects the cluster, or install an add-on that depends on '%s' with install: Auto", name, name, name))
		return
	}
	unread := ""
	if !known {
		unread = ", and whether it does could not be read"
	}
	i.problems.Insert(fmt.Sprintf("'%s' is installed by Placements: %s has to select the cluster%s%s",
		name, placements(users, " or "), unread, i.on.absent(users)))
}

// asking are the add-ons, ascending, for which Interlock has an add-on installed by its Placement: they are there, or have a step. The
// rules are those of the hub.
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

// ofUsers are the Placements that install an add-on and that users change: all but those that select the label of Interlock.
func ofUsers(declared *catalog.Catalog, addOn string) []types.NamespacedName {
	labelled := declared.Labelled(addOn).Placements
	return slices.DeleteFunc(slices.Clone(declared.Install(addOn).Placements), func(one types.NamespacedName) bool {
		return slices.Contains(labelled, one)
	})
}

// stays says why a removal would not last where Placements install an add-on, and what helps.
func stays(declared *catalog.Catalog, addOn string, known bool) string {
	name, ofInterlock := text.Name(addOn), len(declared.Labelled(addOn).Placements) > 0
	users, unread := ofUsers(declared, addOn), ""
	if !known {
		unread = ", and whether it does could not be read"
	}
	switch depends := fmt.Sprintf("uninstall the add-ons that depend on '%s' with install: Auto", name); {
	case ofInterlock && len(users) == 0:
		return fmt.Sprintf("'%s' is installed by the Placement of Interlock, which may not select the cluster, else it is installed again%s: "+
			"%s, and Interlock changes it", name, unread, depends)
	case ofInterlock:
		return fmt.Sprintf("'%s' is installed by Placements: %s may not select the cluster, nor that of Interlock, else it is installed "+
			"again%s: change the Placement, or %s", name, placements(users, " and "), unread, depends)
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
