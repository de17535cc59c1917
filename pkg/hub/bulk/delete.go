// Package bulk deletes objects of a whole hub, page by page.
package bulk

import (
	"context"
	"fmt"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// PageSize is the number of objects in one page of a list.
	PageSize = 500
	// WritesAtATime limits the number of concurrent requests. A hub with 3,500 managed clusters
	// has thousands of events. Deleting them one by one would take minutes.
	WritesAtATime = 16
)

// Delete deletes the selected objects of a kind, and returns their number. Objects that
// another client deletes meanwhile count too.
func Delete(
	ctx context.Context, reader client.Reader, hub client.Writer, kind schema.GroupVersionKind, selector client.ListOptions,
) (int, error) {
	deleted := 0
	page := &metav1.PartialObjectMetadataList{}
	page.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	for {
		selector.Limit, selector.Continue = PageSize, page.Continue
		if err := reader.List(ctx, page, &selector); err != nil {
			return deleted, fmt.Errorf("list %s (%v): %w", kind.Kind, selector.FieldSelector, err)
		}
		count, err := deleteAll(ctx, hub, kind.Kind, page.Items)
		deleted += count
		if err != nil || page.Continue == "" {
			return deleted, err
		}
	}
}

// deleteAll deletes all objects, or stops at the first error.
func deleteAll(ctx context.Context, hub client.Writer, kind string, objects []metav1.PartialObjectMetadata) (int, error) {
	var deleted atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(WritesAtATime)
	for i := range objects {
		group.Go(func() error {
			if err := client.IgnoreNotFound(hub.Delete(ctx, &objects[i])); err != nil {
				return fmt.Errorf("delete %s %s: %w", kind, client.ObjectKeyFromObject(&objects[i]), err)
			}
			deleted.Add(1)
			return nil
		})
	}
	err := group.Wait()
	return int(deleted.Load()), err
}
