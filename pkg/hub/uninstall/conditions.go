package uninstall

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/availability"
	"open-cluster-management.io/interlock/pkg/dependency"
)

const (
	// writesAtATime bounds what the API server is asked for at once.
	writesAtATime = 16
	// triesPerAddOn: others write too, and each of their writes is a conflict.
	triesPerAddOn = 10
	// ownManagers is what the names of all field managers of ours begin with.
	ownManagers = "interlock-"
)

// cleaner takes Interlock's conditions off every add-on on every cluster, and
// its name off the fields that it wrote.
//
// Degraded goes if its reason is ours. So does Available where it says that a
// Required dependency fails, or that the add-on's own check has the next word:
// nobody knows that any more, and whoever reports on the add-on writes it anew.
// All other conditions stay as they are.
type cleaner struct {
	hub client.Client
	out io.Writer
}

func (c *cleaner) run(ctx context.Context) (string, error) {
	var seen int
	var cleaned atomic.Int64
	page := &unstructured.UnstructuredList{}
	page.SetGroupVersionKind(addonv1alpha1.GroupVersion.WithKind("ManagedClusterAddOnList"))
	for {
		err := c.hub.List(ctx, page, client.Limit(pageSize), client.Continue(page.GetContinue()))
		if err != nil {
			return "", fmt.Errorf("list ManagedClusterAddOns: %w", err)
		}
		group, groupCtx := errgroup.WithContext(ctx)
		group.SetLimit(writesAtATime)
		for i := range page.Items {
			group.Go(func() error {
				written, err := c.clean(groupCtx, &page.Items[i])
				if written {
					cleaned.Add(1)
				}
				return err
			})
		}
		if err := group.Wait(); err != nil {
			return "", fmt.Errorf("after %d of the add-ons: %w", cleaned.Load(), err)
		}
		seen += len(page.Items)
		if page.GetContinue() == "" {
			return fmt.Sprintf("%d of %d ManagedClusterAddOns cleaned", cleaned.Load(), seen), nil
		}
		fmt.Fprintf(c.out, "     %-14s %d ManagedClusterAddOns so far\n", "conditions", seen)
	}
}

// clean reports whether the add-on had anything of ours. A conflict is somebody
// else's write: it is read and decided on again.
func (c *cleaner) clean(ctx context.Context, addOn *unstructured.Unstructured) (written bool, err error) {
	key := client.ObjectKeyFromObject(addOn)
	for range triesPerAddOn {
		patch, err := cleaningPatch(addOn)
		if err != nil || patch == nil {
			return false, err
		}
		err = c.hub.Status().Patch(ctx, addOn, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(holder))
		switch {
		case apierrors.IsNotFound(err):
			return false, nil
		case !apierrors.IsConflict(err):
			return err == nil, wrap(err, key)
		}
		fresh := &unstructured.Unstructured{}
		fresh.SetGroupVersionKind(addOn.GroupVersionKind())
		if err := c.hub.Get(ctx, key, fresh); err != nil {
			return false, wrap(client.IgnoreNotFound(err), key)
		}
		addOn = fresh
	}
	return false, wrap(errors.New("somebody else keeps writing it"), key)
}

func wrap(err error, key types.NamespacedName) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("ManagedClusterAddOn %s: %w", key, err)
}

// cleaningPatch is a merge patch, of the version that it was decided on, that
// takes what is ours off the add-on; nil where nothing is. It is made of what
// the API server stores, so that it keeps fields of a newer OCM too.
func cleaningPatch(addOn *unstructured.Unstructured) ([]byte, error) {
	metadata := map[string]any{"resourceVersion": addOn.GetResourceVersion()}
	patch := map[string]any{"metadata": metadata}

	all := addOn.GetManagedFields()
	others := slices.DeleteFunc(slices.Clone(all), func(entry metav1.ManagedFieldsEntry) bool {
		return strings.HasPrefix(entry.Manager, ownManagers)
	})
	if len(others) < len(all) {
		metadata["managedFields"] = others
	}
	status, _, err := unstructured.NestedMap(addOn.Object, "status")
	if err != nil {
		return nil, err
	}
	conditions, _ := status["conditions"].([]any)
	if kept := slices.DeleteFunc(slices.Clone(conditions), isOurs); len(kept) < len(conditions) {
		patch["status"] = statusWith(status, kept)
	}
	if len(metadata) == 1 && len(patch) == 1 {
		return nil, nil
	}
	return json.Marshal(patch)
}

// statusWith is the merge patch of a status for these conditions. Where those
// that go are all that it had, it goes with them: an add-on that nobody has
// reported on has none.
func statusWith(status map[string]any, conditions []any) any {
	switch {
	case len(conditions) > 0:
		return map[string]any{"conditions": conditions}
	case len(status) > 1:
		return map[string]any{"conditions": nil}
	}
	return nil
}

func isOurs(entry any) bool {
	condition, _ := entry.(map[string]any)
	reason, _ := condition["reason"].(string)
	switch condition["type"] {
	case dependency.ConditionDegraded:
		return slices.Contains(dependency.Reasons, reason)
	case availability.ConditionAvailable:
		return reason == availability.ReasonRequiredDependencyNotSatisfied || reason == availability.ReasonAwaitingHealthCheck
	}
	return false
}
