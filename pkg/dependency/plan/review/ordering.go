package review

import (
	"fmt"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/text"
)

// RuleUpgradesNotOrdered means that a registration orders upgrades that the add-on's own manager carries out.
const RuleUpgradesNotOrdered Rule = "UpgradesNotOrdered"

// UpgradesNotOrdered judges an ordering of upgrades if no AddOnTemplate deploys the add-on. The add-on's own manager then upgrades it on
// managed clusters without a write that Interlock could let wait. A bundle has nothing to upgrade.
func UpgradesNotOrdered(addOn *addonv1alpha1.ClusterManagementAddOn) []Judgement {
	if declaration.UsesTemplates(addOn) || catalog.IsBundle(addOn) {
		return nil
	}
	declared := declaration.Read(addOn)
	if declared.Invalid || declared.Ordering != addonv1alpha1.OrderingInstallAndUpgrade {
		return nil
	}
	return []Judgement{{RuleUpgradesNotOrdered, false, declared.OrderingPath(), fmt.Sprintf(
		"add-on '%s' names no AddOnTemplate, so its own manager deploys it: its installation waits, but its upgrades do not. "+
			"Declare Install; after an upgrade, Degraded reports requirements that are not satisfied", text.Name(addOn.Name))}}
}
