// Package bulk deletes objects of a whole hub, page by page.
package bulk

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// pageSize is how many objects are listed at a time.
const pageSize = 500

// Delete deletes the selected objects of a kind, and returns how many it deleted.
func Delete(
	ctx context.Context, from client.Reader, hub client.Writer, kind schema.GroupVersionKind, selector client.ListOptions,
) (int, error) {
	deleted := 0
	page := &metav1.PartialObjectMetadataList{}
	page.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	for {
		selector.Limit, selector.Continue = pageSize, page.Continue
		if err := from.List(ctx, page, &selector); err != nil {
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
