package admission

import (
	"fmt"
	"strings"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/gate"
	"open-cluster-management.io/interlock/pkg/text"
)

// orderedInVain warns of a registration that begins to declare an order, where the lifecycle is off.
func (v *Validator) orderedInVain(addOn, before *addonv1alpha1.ClusterManagementAddOn) []string {
	if v.Lifecycle || !ordered(addOn) || before != nil && ordered(before) {
		return nil
	}
	return []string{fmt.Sprintf("add-on '%s': ordering has no effect on this hub, because Interlock's lifecycle is off (--lifecycle)", text.Name(addOn.Name))}
}

// ordered compiles the declaration only where it can have an order.
func ordered(addOn *addonv1alpha1.ClusterManagementAddOn) bool {
	mentioned := addOn.Spec.Ordering != "" || strings.Contains(addOn.Annotations[addonv1alpha1.DependenciesAnnotation], "ordering")
	return mentioned && gate.Ordered(declaration.Read(addOn))
}
