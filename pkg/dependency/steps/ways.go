package steps

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"open-cluster-management.io/interlock/pkg/dependency/catalog"
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
		install := i.declared.Install(addOn)
		if !install.Placed {
			continue
		}
		i.byOCM.Insert(addOn)
		if len(install.Placements) == 0 {
			i.problems.Insert(fmt.Sprintf("'%s' is installed by Placements, and ClusterManagementAddOn '%s' lists none: its owner has to", name, name))
			continue
		}
		selected, known := i.on.isSelected(addOn)
		install.Placements = ofUsers(addOn, install)
		switch listed := placements(install.Placements, " or "); {
		case !selected && len(install.Placements) == 0:
			i.problems.Insert(fmt.Sprintf("'%s' is installed by Placements, and ClusterManagementAddOn '%s' lists only that of Interlock: "+
				"list a Placement that selects the cluster, or install an add-on that depends on '%s' with install: Auto", name, name, name))
		case selected:
			i.findings.Insert(fmt.Sprintf("'%s' is about to be installed by Open Cluster Management: a Placement selects the cluster", name))
		case known:
			i.problems.Insert(fmt.Sprintf("'%s' is installed by Placements: %s has to select the cluster", name, listed))
		default:
			i.problems.Insert(fmt.Sprintf("'%s' is installed by Placements: %s has to select the cluster, and whether it does could not be read", name, listed))
		}
	}
}

// isSelected reports whether a Placement that installs an add-on selects the cluster, and whether that is known.
func (c *Cluster) isSelected(addOn string) (selected, known bool) {
	if c.Selected == nil {
		return false, false
	}
	return c.Selected(addOn)
}

// ofUsers are the Placements that install an add-on and that users change: all but that of Interlock.
func ofUsers(addOn string, install catalog.Install) []types.NamespacedName {
	return slices.DeleteFunc(slices.Clone(install.Placements), func(one types.NamespacedName) bool {
		return one == catalog.OnDemandPlacement(addOn)
	})
}

// stays says why a removal would not last where Placements install an add-on, and what helps.
func stays(addOn string, install catalog.Install, known bool) string {
	name, ofInterlock := text.Name(addOn), slices.Contains(install.Placements, catalog.OnDemandPlacement(addOn))
	users, unread := ofUsers(addOn, install), ""
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
