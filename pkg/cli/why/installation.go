package why

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/duration"

	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/text"
)

// installation describes the AddOnInstallations of an add-on on managed clusters by the first one; empty: there is none.
func (p *printer) installation(addOn string, clusters []string) string {
	shown, count := "", 0
	for _, cluster := range clusters {
		stored := p.fleet.InstallationOf(types.NamespacedName{Namespace: cluster, Name: addOn})
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
		shown = fmt.Sprintf("AddOnInstallation %s: %s", text.Name(addOn), text.Name(string(stored.Status.Phase)))
		if reason := snapshot.InstallationReason(stored); reason != "" && reason != string(stored.Status.Phase) {
			shown += " (" + text.Name(reason) + ")"
		}
		if since := stored.Status.Since; since != nil {
			shown += " for " + duration.HumanDuration(p.found.Taken.Sub(since.Time))
		}
		shown += ", requested by " + strings.Join(requests, ", ") + " on " + text.Name(cluster)
	}
	if count > 1 {
		shown += fmt.Sprintf(" and %d more", count-1)
	}
	return shown
}
