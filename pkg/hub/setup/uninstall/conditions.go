package uninstall

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
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
	"open-cluster-management.io/interlock/pkg/dependency/condition/bundle"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/hub/bulk"
	"open-cluster-management.io/interlock/pkg/names"
)

// passes bounds the passes over all add-ons. The last pass changes nothing. A conflict with another writer is resolved by
// the next pass.
const passes = 10

// removeConditions removes Interlock's conditions from every add-on on every cluster.
//
// It removes Degraded with a reason of Interlock. It also removes Available if a Required dependency fails or addon-agent
// waits for the add-on's own check. The other writer of Available then sets it again. All other conditions stay. An
// Available that addon-agent set from a lease with OCM's reasons stays too, because OCM's agent keeps it current.
// Interlock's entry in managedFields stays with such a condition until OCM's agent changes it. Removing the entry would
// take one more write to most add-ons of a fleet.
func (u *uninstallation) removeConditions(ctx context.Context) (string, error) {
	cleaned, seen, err := u.cleanAll(ctx, "conditions", u.removeFrom)
	return fmt.Sprintf("%d ManagedClusterAddOns written, no condition of Interlock is left on any of %d", cleaned, seen), err
}

// cleaner cleans one add-on. It returns false if there is nothing to clean.
type cleaner func(ctx context.Context, addOn *unstructured.Unstructured) (bool, error)

// cleanAll cleans every add-on on every cluster, until a pass changes nothing. It returns the number of writes, and of the
// add-ons in the last pass.
func (u *uninstallation) cleanAll(ctx context.Context, step string, clean cleaner) (int64, int, error) {
	var cleaned int64
	for range passes {
		var results counts
		err := u.pass(ctx, step, clean, &results)
		cleaned += results.cleaned.Load()
		if err != nil {
			return cleaned, results.seen, fmt.Errorf("after %d of the add-ons: %w", cleaned, err)
		}
		if results.conflicts.Load() == 0 && results.cleaned.Load() == 0 {
			return cleaned, results.seen, nil
		}
	}
	return cleaned, 0, errors.New("other writers keep changing the ManagedClusterAddOns to clean: run this again")
}

// counts are the results of one pass over all add-ons.
type counts struct {
	seen               int
	cleaned, conflicts atomic.Int64
}

// pass cleans every add-on once.
func (u *uninstallation) pass(ctx context.Context, step string, clean cleaner, results *counts) error {
	page := &unstructured.UnstructuredList{}
	page.SetGroupVersionKind(addonv1alpha1.GroupVersion.WithKind("ManagedClusterAddOnList"))
	for {
		err := u.hub.List(ctx, page, client.Limit(bulk.PageSize), client.Continue(page.GetContinue()))
		if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) {
			return nil // the hub has no OCM
		}
		if err != nil {
			return fmt.Errorf("list ManagedClusterAddOns: %w", err)
		}
		group, groupCtx := errgroup.WithContext(ctx)
		group.SetLimit(bulk.WritesAtATime)
		for i := range page.Items {
			group.Go(func() error { return count(groupCtx, &page.Items[i], clean, results) })
		}
		err = group.Wait()
		results.seen += len(page.Items)
		if err != nil || page.GetContinue() == "" {
			return err
		}
		fmt.Fprintf(u.options.Out, "     %-14s %d ManagedClusterAddOns so far\n", step, results.seen)
	}
}

// removeFrom removes Interlock's conditions from an add-on.
func (u *uninstallation) removeFrom(ctx context.Context, addOn *unstructured.Unstructured) (bool, error) {
	return u.removeEach(ctx, addOn, isOurs)
}

// removeEach removes some conditions from an add-on.
func (u *uninstallation) removeEach(ctx context.Context, addOn *unstructured.Unstructured, removed func(any) bool) (bool, error) {
	patch, err := statusPatch(addOn, removed)
	if err != nil || patch == nil {
		return false, err
	}
	return true, u.hub.Status().Patch(ctx, addOn, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(holder))
}

// count cleans one add-on, and counts writes and conflicts. After a conflict the
// next pass reads the add-on again.
func count(ctx context.Context, addOn *unstructured.Unstructured, clean cleaner, results *counts) error {
	switch cleaned, err := clean(ctx, addOn); {
	case err == nil && !cleaned:
	case err == nil:
		results.cleaned.Add(1)
	case apierrors.IsNotFound(err):
	case apierrors.IsConflict(err):
		results.conflicts.Add(1)
	default:
		return fmt.Errorf("ManagedClusterAddOn %s: %w", client.ObjectKeyFromObject(addOn), err)
	}
	return nil
}

// statusPatch returns a merge patch that removes conditions. It is nil if the add-on has none of them. It applies only to
// the resourceVersion that was read, and keeps fields of a newer OCM.
func statusPatch(addOn *unstructured.Unstructured, removed func(any) bool) ([]byte, error) {
	status, _, err := unstructured.NestedMap(addOn.Object, "status")
	if err != nil {
		return nil, err
	}
	conditions, _ := status["conditions"].([]any)
	kept := slices.DeleteFunc(slices.Clone(conditions), removed)
	if len(kept) == len(conditions) {
		return nil, nil
	}
	templateRemoved := slices.ContainsFunc(conditions, func(entry any) bool { return removed(entry) && isUpgradable(entry) })
	related, changed := othersRelated(status, templateRemoved)
	if changed && related == nil {
		delete(status, "relatedObjects")
	}
	patch := statusWith(status, kept)
	if fields, ok := patch.(map[string]any); ok {
		if isBundle(addOn) {
			fields["healthCheck"] = nil
		}
		if changed {
			fields["relatedObjects"] = related
		}
	}
	return json.Marshal(map[string]any{
		"metadata": map[string]any{"resourceVersion": addOn.GetResourceVersion()},
		"status":   patch,
	})
}

// othersRelated returns the related objects of a status without its AddOnTemplates, or nil if there are no others. The
// second result is false if the related objects do not change.
func othersRelated(status map[string]any, templateRemoved bool) (any, bool) {
	objects, _ := status["relatedObjects"].([]any)
	kept := slices.DeleteFunc(slices.Clone(objects), func(entry any) bool {
		object, _ := entry.(map[string]any)
		return object["group"] == declaration.Templates.Group && object["resource"] == declaration.Templates.Resource
	})
	if !templateRemoved || len(kept) == len(objects) {
		return nil, false
	}
	if len(kept) == 0 {
		return nil, true
	}
	return kept, true
}

// isBundle reports whether Interlock set the mode of the add-on's health check, so that OCM's agent leaves its health
// alone.
func isBundle(addOn *unstructured.Unstructured) bool {
	return slices.ContainsFunc(addOn.GetManagedFields(), func(entry metav1.ManagedFieldsEntry) bool {
		return entry.Manager == names.AddonManager && entry.FieldsV1 != nil && bytes.Contains(entry.FieldsV1.Raw, []byte(`"f:healthCheck"`))
	})
}

// statusWith returns the merge patch of a status with these conditions. An empty status is removed, because an add-on
// without reports has no status.
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
	return isReplaced(entry) || hasReason(entry, availability.ConditionDegraded, condition.Reasons...) ||
		hasReason(entry, availability.ConditionAvailable, bundle.Reasons...) ||
		hasReason(entry, availability.ConditionAvailable,
			availability.ReasonRequiredDependencyNotSatisfied, availability.ReasonAwaitingHealthCheck)
}

// isReplaced reports whether a condition keeps another writer's Degraded. Only Interlock sets this type, with the other writer's reason.
func isReplaced(entry any) bool {
	stored, _ := entry.(map[string]any)
	return stored["type"] == addonv1alpha1.ManagedClusterAddOnConditionReplacedDegraded
}

// hasReason reports whether a condition has this type and one of these reasons.
func hasReason(entry any, kind string, reasons ...string) bool {
	stored, _ := entry.(map[string]any)
	reason, _ := stored["reason"].(string)
	return stored["type"] == kind && slices.Contains(reasons, reason)
}
