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
	"open-cluster-management.io/interlock/pkg/dependency/condition"
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
// All other conditions stay as they are: also an Available that addon-agent
// wrote of a lease, in OCM's words, which OCM's agent goes on to keep.
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
	wrote, err := c.write(ctx, addOn)
	if wrote {
		cleaned.Add(1)
	}
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case apierrors.IsConflict(err):
		conflicts.Add(1)
		return nil
	case err != nil:
		return fmt.Errorf("ManagedClusterAddOn %s: %w", client.ObjectKeyFromObject(addOn), err)
	}
	return nil
}

// write takes our conditions off the add-on, and then, where an entry of ours
// is still in managedFields, that one: with the fields that it is about, the
// API server removes it by itself, and in a write of status it ignores what is
// said about managedFields. What is left then is about a condition that stays.
func (c *cleaner) write(ctx context.Context, addOn *unstructured.Unstructured) (wrote bool, err error) {
	status, err := statusPatch(addOn)
	if err == nil && status != nil {
		err = c.hub.Status().Patch(ctx, addOn, client.RawPatch(types.MergePatchType, status), client.FieldOwner(holder))
		wrote = err == nil
	}
	if err != nil {
		return wrote, err
	}
	traces, err := tracesPatch(addOn)
	if err == nil && traces != nil {
		err = c.hub.Patch(ctx, addOn, client.RawPatch(types.MergePatchType, traces), client.FieldOwner(holder))
		wrote = wrote || err == nil
	}
	return wrote, err
}

// statusPatch is a merge patch, of the version that it was decided on, that
// takes our conditions off the add-on; nil where there are none. It is made of
// what the API server stores, so that it keeps fields of a newer OCM too.
func statusPatch(addOn *unstructured.Unstructured) ([]byte, error) {
	status, _, err := unstructured.NestedMap(addOn.Object, "status")
	if err != nil {
		return nil, err
	}
	conditions, _ := status["conditions"].([]any)
	kept := slices.DeleteFunc(slices.Clone(conditions), isOurs)
	if len(kept) == len(conditions) {
		return nil, nil
	}
	return json.Marshal(map[string]any{
		"metadata": map[string]any{"resourceVersion": addOn.GetResourceVersion()},
		"status":   statusWith(status, kept),
	})
}

// tracesPatch is a merge patch, likewise, that takes our entries off
// managedFields; nil where there are none.
func tracesPatch(addOn *unstructured.Unstructured) ([]byte, error) {
	all := addOn.GetManagedFields()
	others := slices.DeleteFunc(slices.Clone(all), func(entry metav1.ManagedFieldsEntry) bool {
		return strings.HasPrefix(entry.Manager, ownManagers)
	})
	if len(others) == len(all) {
		return nil, nil
	}
	metadata := map[string]any{"resourceVersion": addOn.GetResourceVersion(), "managedFields": others}
	if len(others) == 0 {
		metadata["managedFields"] = []any{map[string]any{}} // how the API server is told to empty the list
	}
	return json.Marshal(map[string]any{"metadata": metadata})
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
	stored, _ := entry.(map[string]any)
	reason, _ := stored["reason"].(string)
	switch stored["type"] {
	case addonv1alpha1.ManagedClusterAddOnConditionDegraded:
		return slices.Contains(condition.Reasons, reason)
	case availability.ConditionAvailable:
		return reason == availability.ReasonRequiredDependencyNotSatisfied || reason == availability.ReasonAwaitingHealthCheck
	}
	return false
}
