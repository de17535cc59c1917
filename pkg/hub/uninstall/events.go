package uninstall

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// pageSize is how many objects are held at a time.
const pageSize = 500

// selectors find the events of addon-manager and of the agents by who told
// them, and those of the election by what they are about.
func (r *eventRemover) selectors() []client.ListOptions {
	var selectors []client.ListOptions
	for _, controller := range []string{"interlock-addon-manager", "open-cluster-management.io/interlock-addon-agent"} {
		selectors = append(selectors, client.ListOptions{FieldSelector: fields.OneTermEqualSelector("reportingComponent", controller)})
	}
	return append(selectors, client.ListOptions{
		Namespace: r.options.LeaseNamespace,
		FieldSelector: fields.AndSelectors(
			fields.OneTermEqualSelector("involvedObject.kind", "Lease"),
			fields.OneTermEqualSelector("involvedObject.name", leaseName)),
	})
}

// eventRemover deletes Interlock's events, which would go by themselves within
// the hour that API servers keep them.
type eventRemover struct {
	hub     client.Client
	options Options
}

func (r *eventRemover) run(ctx context.Context) (string, error) {
	deleted := 0
	for _, selector := range r.selectors() {
		page := &metav1.PartialObjectMetadataList{}
		page.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("EventList"))
		for {
			selector.Limit, selector.Continue = pageSize, page.Continue
			if err := r.hub.List(ctx, page, &selector); err != nil {
				return "", fmt.Errorf("list events (%s): %w", selector.FieldSelector, err)
			}
			for i := range page.Items {
				if err := client.IgnoreNotFound(r.hub.Delete(ctx, &page.Items[i])); err != nil {
					return "", fmt.Errorf("delete event %s/%s: %w", page.Items[i].Namespace, page.Items[i].Name, err)
				}
				deleted++
			}
			if page.Continue == "" {
				break
			}
		}
	}
	return fmt.Sprintf("%d deleted", deleted), nil
}
