package evaluation

import (
	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
)

func evaluator(addOns []addonv1alpha1.ClusterManagementAddOn) *Evaluator {
	return New(catalog.New(addOns))
}
