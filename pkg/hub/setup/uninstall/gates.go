package uninstall

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/condition/gate"
	"open-cluster-management.io/interlock/pkg/fleet"
)

// removeGates removes the gate of every add-on with its condition Installable, and every condition Upgradable. The gate
// rule is removed before, so OCM then installs the add-ons that waited.
func (u *uninstallation) removeGates(ctx context.Context) (string, error) {
	cleaned, seen, err := u.cleanAll(ctx, "gates", u.removeGate)
	return fmt.Sprintf("%d opened and removed, none is left on any of %d ManagedClusterAddOns", cleaned, seen), err
}

func (u *uninstallation) removeGate(ctx context.Context, addOn *unstructured.Unstructured) (bool, error) {
	_, gated := addOn.GetAnnotations()[addonv1alpha1.GateAnnotation]
	ours := gated || fleet.AppliedInstallable(addOn.GetManagedFields())
	written, err := u.removeEach(ctx, addOn, func(entry any) bool { return ours && isInstallable(entry) || isUpgradable(entry) })
	if err != nil || !gated {
		return written, err
	}
	return true, u.patch(ctx, addOn, map[string]any{"annotations": map[string]any{
		addonv1alpha1.GateAnnotation: nil, addonv1alpha1.GateCauseAnnotation: nil,
	}})
}

// isUpgradable reports whether a condition can make AddOnTemplates wait. Without it, no template waits.
func isUpgradable(entry any) bool {
	return hasReason(entry, gate.ConditionUpgradable, gate.UpgradeReasons...)
}

// isInstallable reports whether a condition may belong to a gate. If there is no gate, and addon-manager has not applied
// the condition while there was one, the add-on's own manager has set it.
func isInstallable(entry any) bool {
	return hasReason(entry, gate.ConditionInstallable, gate.Reasons...)
}
