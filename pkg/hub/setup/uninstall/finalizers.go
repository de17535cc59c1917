package uninstall

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// removeFinalizers removes Interlock's finalizer from every add-on. It comes before all slow steps, because no other
// component removes the finalizer any more. While the lease is held, the webhook sets no finalizer and closes no gate.
func (u *uninstallation) removeFinalizers(ctx context.Context) (string, error) {
	if err := u.awaitAdmissions(ctx); err != nil {
		return "", err
	}
	cleaned, seen, err := u.cleanAll(ctx, "finalizers", u.removeFinalizer)
	return fmt.Sprintf("%d removed, none is left on any of %d ManagedClusterAddOns", cleaned, seen), err
}

func (u *uninstallation) removeFinalizer(ctx context.Context, addOn *unstructured.Unstructured) (bool, error) {
	kept := slices.DeleteFunc(addOn.GetFinalizers(), func(finalizer string) bool {
		return finalizer == addonv1alpha1.WaitForDependentsFinalizer
	})
	if len(kept) == len(addOn.GetFinalizers()) {
		return false, nil
	}
	return true, u.patch(ctx, addOn, map[string]any{"finalizers": kept})
}
