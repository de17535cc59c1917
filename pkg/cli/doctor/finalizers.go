package doctor

import (
	"fmt"
	"time"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/plan/teardown"
)

// leftFinalizers reports add-ons that cannot be deleted because the lifecycle is off.
func (h *hub) leftFinalizers() []result {
	addOns := h.tallyAddOns(func(addOn *addonv1alpha1.ManagedClusterAddOn) bool { return len(addOn.Finalizers) > 0 })
	if addOns.count == 0 {
		return nil
	}
	return []result{{
		failed, fmt.Sprintf("The lifecycle is off, and add-ons have a finalizer that no component removes when they are deleted: %s", addOns),
		"docs/ordering.md#turn-it-off",
	}}
}

// longDeletions reports add-ons with the finalizer of addon-manager, which should have removed it.
func (h *hub) longDeletions() []result {
	late := h.tallyAddOns(func(addOn *addonv1alpha1.ManagedClusterAddOn) bool {
		return len(addOn.Finalizers) > 0 && !addOn.DeletionTimestamp.IsZero() &&
			h.now.Sub(addOn.DeletionTimestamp.Time) > teardown.MaxWait+time.Minute
	})
	if late.count == 0 {
		return nil
	}
	return []result{{
		failed, fmt.Sprintf("Add-ons that are being deleted wait for addon-manager to remove its finalizer, for more than 10 minutes: %s", late),
		"docs/ordering.md#if-addon-manager-is-down",
	}}
}
