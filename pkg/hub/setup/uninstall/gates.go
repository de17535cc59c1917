package uninstall

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/condition/gate"
)

// removeGates removes the gate of every add-on with its condition Installable, and every condition Upgradable. The gate
// rule is removed before, so OCM then installs the add-ons that waited.
func (u *uninstallation) removeGates(ctx context.Context) (string, error) {
	cleaned, seen, err := u.cleanAll(ctx, "gates", u.removeGate)
	return fmt.Sprintf("%d opened and removed, none is left on any of %d ManagedClusterAddOns", cleaned, seen), err
}

func (u *uninstallation) removeGate(ctx context.Context, addOn *unstructured.Unstructured) (bool, error) {
	if _, ok := addOn.GetAnnotations()[addonv1alpha1.GateAnnotation]; !ok {
		return u.removeEach(ctx, addOn, isUpgradable)
	}
	if _, err := u.removeEach(ctx, addOn, func(entry any) bool { return isInstallable(entry) || isUpgradable(entry) }); err != nil {
		return false, err
	}
	return true, u.patch(ctx, addOn, map[string]any{"annotations": map[string]any{
		addonv1alpha1.GateAnnotation: nil, addonv1alpha1.GateCauseAnnotation: nil,
	}})
}

// isUpgradable reports whether a condition can make AddOnTemplates wait. Without it, no template waits.
func isUpgradable(entry any) bool {
	return hasReason(entry, gate.ConditionUpgradable, gate.UpgradeReasons...)
}

// isInstallable reports whether a condition belongs to a gate. Without a gate, the add-on's own manager may have set it.
func isInstallable(entry any) bool {
	return hasReason(entry, gate.ConditionInstallable, gate.Reasons...)
}
