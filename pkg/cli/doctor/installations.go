package doctor

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/fleet"
)

// checkInstallLabels counts labels of ManagedClusters by which Placements install add-ons, and that have no AddOnInstallation. Another writer
// has set them, because Interlock stores the AddOnInstallation before it sets a label. Or a user has deleted the AddOnInstallation to take
// the add-on over.
func checkInstallLabels(_ context.Context, h *hub) []result {
	var labels tally
	cluster := ""
	for _, addOn := range h.fleet.Declared.AddOns() {
		if h.fleet.Declared.Consent(addOn) != catalog.ByLabel {
			continue
		}
		for i := range h.fleet.Clusters {
			name := h.fleet.Clusters[i].Name
			key := types.NamespacedName{Namespace: name, Name: addOn}
			if !fleet.HasInstallLabel(&h.fleet.Clusters[i], addOn) || h.fleet.InstallationOf(key) != nil {
				continue
			}
			if labels.add(addOn + " on " + name); labels.count == 1 {
				cluster = name
			}
		}
	}
	if labels.count == 0 {
		return nil
	}
	return []result{{
		note, fmt.Sprintf("Labels of ManagedClusters that install add-ons, and that Interlock does not withdraw, "+
			"because they have no AddOnInstallation: %s", labels),
		fmt.Sprintf("kubectl get managedcluster %s -o yaml --show-managed-fields", cluster),
	}}
}
