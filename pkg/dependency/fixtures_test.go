package dependency

import (
	"math/rand/v2"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

const (
	requiredReason  = addonv1alpha1.AddonDegradedReasonRequiredDependencyNotSatisfied
	optionalReason  = addonv1alpha1.AddonDegradedReasonDependencyNotSatisfied
	satisfiedReason = addonv1alpha1.AddonDegradedReasonDependenciesSatisfied
)

var (
	earlier = metav1.NewTime(time.Date(2026, 8, 1, 10, 0, 0, 0, time.UTC))
	now     = metav1.NewTime(time.Date(2026, 8, 1, 10, 5, 0, 0, time.UTC))
)

func required(name string) addonv1alpha1.AddonDependency {
	return addonv1alpha1.AddonDependency{Name: name, Type: addonv1alpha1.DependencyTypeRequired}
}

func optional(name string) addonv1alpha1.AddonDependency {
	return addonv1alpha1.AddonDependency{Name: name, Type: addonv1alpha1.DependencyTypeOptional}
}

// edgeOn is the dependency as a finding refers to it.
func edgeOn(dependency addonv1alpha1.AddonDependency) *addonv1alpha1.AddonDependency {
	return &dependency
}

// registration is an add-on that declares dependencies in the field.
func registration(name string, dependencies ...addonv1alpha1.AddonDependency) addonv1alpha1.ClusterManagementAddOn {
	return addonv1alpha1.ClusterManagementAddOn{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       addonv1alpha1.ClusterManagementAddOnSpec{Dependencies: dependencies},
	}
}

func annotated(name, annotation string) addonv1alpha1.ClusterManagementAddOn {
	addOn := registration(name)
	addOn.Annotations = map[string]string{addonv1alpha1.DependenciesAnnotation: annotation}
	return addOn
}

// registrations reads "a: b c?, b: a": an add-on, then what it depends on, a
// question mark behind what is Optional.
func registrations(text string) []addonv1alpha1.ClusterManagementAddOn {
	var addOns []addonv1alpha1.ClusterManagementAddOn
	for entry := range strings.SplitSeq(text, ",") {
		name, list, _ := strings.Cut(strings.TrimSpace(entry), ":")
		var dependencies []addonv1alpha1.AddonDependency
		for dependency := range strings.FieldsSeq(list) {
			if optionalName, ok := strings.CutSuffix(dependency, "?"); ok {
				dependencies = append(dependencies, optional(optionalName))
			} else {
				dependencies = append(dependencies, required(dependency))
			}
		}
		addOns = append(addOns, registration(name, dependencies...))
	}
	return addOns
}

func catalogOf(text string) *Catalog { return NewCatalog(registrations(text)) }

func available(status metav1.ConditionStatus, reason string) *metav1.Condition {
	return &metav1.Condition{Type: "Available", Status: status, Reason: reason, LastTransitionTime: earlier}
}

func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// reasonsOf lists the reasons of problems in their order.
func reasonsOf(problems []Problem) []ProblemReason {
	var reasons []ProblemReason
	for _, problem := range problems {
		reasons = append(reasons, problem.Reason)
	}
	return reasons
}
