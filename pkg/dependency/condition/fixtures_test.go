package condition

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/test/fixture"
)

const (
	requiredReason  = addonv1alpha1.AddonDegradedReasonRequiredDependencyNotSatisfied
	optionalReason  = addonv1alpha1.AddonDegradedReasonDependencyNotSatisfied
	satisfiedReason = addonv1alpha1.AddonDegradedReasonDependenciesSatisfied
)

type list = []addonv1alpha1.AddonDependency

func evaluator(addOns []addonv1alpha1.ClusterManagementAddOn) *evaluation.Evaluator {
	return evaluation.New(catalog.New(addOns))
}

// running is an add-on that is available, in the version of its annotation.
func running(version string) evaluation.Observation {
	return evaluation.Observation{Installed: true, Available: fixture.Available(metav1.ConditionTrue, ""), Version: version}
}

func label(i int) string { return fmt.Sprintf("addon-%02d", i) }
