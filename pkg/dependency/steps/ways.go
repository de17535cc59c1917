package steps

import (
	"fmt"
	"maps"
	"slices"

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
		switch listed := placements(install, " or "); {
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

// placements are the Placements that install an add-on, quoted.
func placements(install catalog.Install, separator string) string {
	var keys []string
	for _, placement := range install.Placements {
		keys = append(keys, placement.String())
	}
	return text.Names(keys, separator)
}
