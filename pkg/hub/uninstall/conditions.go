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
	"k8s.io/apimachinery/pkg/api/meta"
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
	// passes over all add-ons, the last of which finds nothing: others write too,
	// and each of their writes is a conflict, which the next pass makes good.
	passes = 10
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
	cleaned := 0
	for range passes {
		result, err := c.pass(ctx)
		cleaned += result.cleaned
		if err != nil {
			return "", fmt.Errorf("after %d of the add-ons: %w", cleaned, err)
		}
		if result.conflicts == 0 && result.cleaned == 0 {
			return fmt.Sprintf("%d ManagedClusterAddOns written, nothing of Interlock's is left on any of %d", cleaned, result.seen), nil
		}
	}
	return "", errors.New("others keep writing to the ManagedClusterAddOns that are to be cleaned: run this again")
}

// result is what one pass over all add-ons came to.
type result struct{ seen, cleaned, conflicts int }

// pass tries to clean every add-on once.
func (c *cleaner) pass(ctx context.Context) (result, error) {
	var done result
	var cleaned, conflicts atomic.Int64
	page := &unstructured.UnstructuredList{}
	page.SetGroupVersionKind(addonv1alpha1.GroupVersion.WithKind("ManagedClusterAddOnList"))
	for {
		err := c.hub.List(ctx, page, client.Limit(pageSize), client.Continue(page.GetContinue()))
		if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) {
			return done, nil // no hub of OCM's, or no longer one
		}
		if err != nil {
			return done, fmt.Errorf("list ManagedClusterAddOns: %w", err)
		}
		group, groupCtx := errgroup.WithContext(ctx)
		group.SetLimit(writesAtATime)
		for i := range page.Items {
			group.Go(func() error { return c.clean(groupCtx, &page.Items[i], &cleaned, &conflicts) })
		}
		err = group.Wait()
		done.seen += len(page.Items)
		done.cleaned, done.conflicts = int(cleaned.Load()), int(conflicts.Load())
		if err != nil || page.GetContinue() == "" {
			return done, err
		}
		fmt.Fprintf(c.out, "     %-14s %d ManagedClusterAddOns so far\n", "conditions", done.seen)
	}
}

// clean counts the add-on if it had anything of ours. A conflict is somebody
// else's write: the next pass reads and decides again.
func (c *cleaner) clean(ctx context.Context, addOn *unstructured.Unstructured, cleaned, conflicts *atomic.Int64) error {
	before := addOn.GetResourceVersion()
	patch, err := cleaningPatch(addOn)
	if err == nil && patch != nil {
		err = c.hub.Status().Patch(ctx, addOn, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(holder))
	}
	switch {
	case apierrors.IsNotFound(err) || err == nil && patch == nil:
		return nil
	case apierrors.IsConflict(err):
		conflicts.Add(1)
		return nil
	case err != nil:
		return fmt.Errorf("ManagedClusterAddOn %s: %w", client.ObjectKeyFromObject(addOn), err)
	}
	if addOn.GetResourceVersion() != before { // else the API server saw nothing to write
		cleaned.Add(1)
	}
	return nil
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
		if len(others) == 0 {
			metadata["managedFields"] = []any{map[string]any{}} // how the API server is told to empty the list
		}
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
