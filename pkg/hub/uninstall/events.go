package uninstall

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/names"
)

// pageSize is how many objects are listed at a time.
const pageSize = 500

// eventSelectors find the events of addon-manager and addon-agent by their reporter,
// and those of the leader election by the lease.
func (u *uninstallation) eventSelectors() []client.ListOptions {
	var selectors []client.ListOptions
	for _, controller := range []string{names.AddonManager, names.AddonAgentEvents} {
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
		some, err := deleteAll(ctx, u.hub, corev1.SchemeGroupVersion.WithKind("Event"), selector)
		if err != nil {
			return "", err
		}
		deleted += some
	}
	return fmt.Sprintf("%d deleted", deleted), nil
}

// deleteAll deletes the selected objects of a kind, and returns how many it deleted.
func deleteAll(ctx context.Context, hub client.Client, kind schema.GroupVersionKind, selector client.ListOptions) (int, error) {
	deleted := 0
	page := &metav1.PartialObjectMetadataList{}
	page.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	for {
		selector.Limit, selector.Continue = pageSize, page.Continue
		if err := hub.List(ctx, page, &selector); err != nil {
			return deleted, fmt.Errorf("list %s (%v): %w", kind.Kind, selector.FieldSelector, err)
		}
		for i := range page.Items {
			if err := client.IgnoreNotFound(hub.Delete(ctx, &page.Items[i])); err != nil {
				return deleted, fmt.Errorf("delete %s %s: %w", kind.Kind, client.ObjectKeyFromObject(&page.Items[i]), err)
			}
			deleted++
		}
		if page.Continue == "" {
			return deleted, nil
		}
	}
}
