package evaluation_test

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/test/fixture"
)

func verdicts(findings []evaluation.Finding) string {
	var texts []string
	for _, finding := range findings {
		texts = append(texts, fmt.Sprintf("%s=%s", finding.Name(), finding.Verdict))
	}
	return strings.Join(texts, " ")
}

// running is an add-on that is available, in the version that its annotation says.
func running(version string) evaluation.Observation {
	return evaluation.Observation{Installed: true, Available: fixture.Available(metav1.ConditionTrue, ""), Version: version}
}

const (
	requiredReason  = addonv1alpha1.AddonDegradedReasonRequiredDependencyNotSatisfied
	satisfiedReason = addonv1alpha1.AddonDegradedReasonDependenciesSatisfied

	// separator stands between the sentences of a message.
	separator = "; "
)

func evaluator(addOns []addonv1alpha1.ClusterManagementAddOn) *evaluation.Evaluator {
	return evaluation.New(catalog.New(addOns))
}

func evaluatorOf(text string) *evaluation.Evaluator { return evaluator(fixture.Registrations(text)) }

// reasonsOf lists the reasons of problems in their order.
func reasonsOf(problems []declaration.Problem) []declaration.ProblemReason {
	var reasons []declaration.ProblemReason
	for _, problem := range problems {
		reasons = append(reasons, problem.Reason)
	}
	return reasons
}
