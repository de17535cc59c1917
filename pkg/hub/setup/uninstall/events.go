package uninstall

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/hub/bulk"
	"open-cluster-management.io/interlock/pkg/names"
)

// eventSelectors returns selectors for the events of addon-manager, its webhook and addon-agent by their reporter, and for
// the events of the leader election by the lease.
func (u *uninstallation) eventSelectors() []client.ListOptions {
	var selectors []client.ListOptions
	for _, controller := range []string{names.AddonManager, names.AddonAgentEvents, names.Webhook} {
		selectors = append(selectors, client.ListOptions{FieldSelector: fields.OneTermEqualSelector("reportingComponent", controller)})
	}
	return append(selectors, client.ListOptions{
		Namespace: u.options.LeaseNamespace,
		FieldSelector: fields.AndSelectors(
			fields.OneTermEqualSelector("involvedObject.kind", "Lease"),
			fields.OneTermEqualSelector("involvedObject.name", names.AddonManager)),
	})
}

// deleteEvents deletes Interlock's events. API servers would keep them for an hour.
func (u *uninstallation) deleteEvents(ctx context.Context) (string, error) {
	deleted := 0
	for _, selector := range u.eventSelectors() {
		count, err := bulk.Delete(ctx, u.hub, u.hub, corev1.SchemeGroupVersion.WithKind("Event"), selector)
		if err != nil {
			return "", err
		}
		deleted += count
	}
	return fmt.Sprintf("%d deleted", deleted), nil
}
