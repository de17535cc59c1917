// Package installation decides which missing add-ons are installed for their dependents, where, and when. It has no clock
// and no client.
package installation

import (
	"slices"

	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/settings"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
)

// Needed returns the add-ons that edges with install Auto of one add-on need on its managed cluster, and that are missing
// there, in ascending order. Some edges need no installation: held, waived and inapplicable edges, edges on a cycle, and
// edges whose required settings have no value.
func Needed(c *catalog.Catalog, findings []evaluation.Finding) []string {
	var addOns []string
	for i := range findings {
		dependency := findings[i].Dependency
		if dependency == nil || !declaration.Installs(dependency) || !missing(&findings[i]) {
			continue
		}
		if requested, ok := findings[i].Settings(); !ok || settings.Lacking(requested) != "" {
			continue
		}
		if addOn := c.Installer(dependency); addOn != "" {
			addOns = append(addOns, addOn)
		}
	}
	slices.Sort(addOns)
	return slices.Compact(addOns)
}

// missing reports whether an installation can satisfy the edge.
func missing(f *evaluation.Finding) bool {
	return f.Verdict == evaluation.NotInstalled ||
		f.Verdict == evaluation.APINotServed && !f.Detail.Unreported && !f.Detail.Served
}
