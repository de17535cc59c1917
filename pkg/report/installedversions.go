package report

import (
	"open-cluster-management.io/interlock/pkg/dependency/declaration/versions"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
)

// InstalledVersions counts the managed clusters where an add-on is installed by its version, from the sources that verdicts use. The version
// is empty where none is known.
func InstalledVersions(hub *snapshot.Snapshot, addOn string) map[string]int {
	counts := map[string]int{}
	for _, name := range hub.Names() {
		if !hub.IsOn(name, addOn) {
			continue
		}
		cluster := hub.Whole(name)
		// Evaluation drops facts that no installed add-on needs.
		if object := hub.FactsObject(name); object != nil && cluster.Facts.Versions == nil {
			cluster.Facts.Versions = fleet.FactsOf(object).Versions
		}
		observation := cluster.AddOns[addOn]
		counts[versions.Running(cluster.VersionSources(&observation, hub.Declared.Version(addOn))).Number]++
	}
	return counts
}
