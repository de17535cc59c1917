// Package installation decides which add-ons are installed because others need them, where, and when. It has no clock and
// no client. The rules are those of lifecycle.md, "Install what is missing" and "Principles".
package installation

import (
	"slices"

	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/settings"
)

// Needed returns the add-ons, ascending, that edges with install Auto of one add-on need on its managed cluster, and that are not
// known to be installed there. A verdict that is held needs nothing, nor does an edge that is waived, does not apply, or is on a
// cycle, or whose required settings have no value.
func Needed(declared *catalog.Catalog, findings []evaluation.Finding) []string {
	var needed []string
	for i := range findings {
		dependency := findings[i].Dependency
		if dependency == nil || !declaration.Installs(dependency) || !missing(&findings[i]) {
			continue
		}
		if wished, known := findings[i].Settings(); !known || settings.Lacking(wished) != "" {
			continue
		}
		if addOn := declared.Installer(dependency); addOn != "" {
			needed = append(needed, addOn)
		}
	}
	slices.Sort(needed)
	return slices.Compact(needed)
}

// missing reports whether an installation can satisfy the edge.
func missing(f *evaluation.Finding) bool {
	return f.Verdict == evaluation.NotInstalled ||
		f.Verdict == evaluation.APINotServed && !f.Detail.Unreported && !f.Detail.Served
}
