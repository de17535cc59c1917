package report

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/duration"

	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/text"
)

// InstallationText describes the first AddOnInstallation of an add-on on managed clusters, and counts the others. It is empty without any.
func InstallationText(hub *snapshot.Snapshot, addOn string, clusters []string) string {
	description, count := "", 0
	for _, cluster := range clusters {
		stored := hub.InstallationOf(types.NamespacedName{Namespace: cluster, Name: addOn})
		if stored == nil {
			continue
		}
		if count++; count > 1 {
			continue
		}
		var requests []string
		for _, request := range stored.Spec.RequestedBy {
			requests = append(requests, text.Name(request.AddOn))
		}
		description = fmt.Sprintf("AddOnInstallation %s: %s", text.Name(addOn), text.Name(string(stored.Status.Phase)))
		if reason := snapshot.InstallationReason(stored); reason != "" && reason != string(stored.Status.Phase) {
			description += " (" + text.Name(reason) + ")"
		}
		if since := stored.Status.Since; since != nil {
			description += " for " + duration.HumanDuration(hub.Taken.Sub(since.Time))
		}
		description += ", requested by " + strings.Join(requests, ", ") + " on " + text.Name(cluster)
	}
	if count > 1 {
		description += fmt.Sprintf(" and %d more", count-1)
	}
	return description
}
