package wait

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/test/fixture"
)

// TestOptionalDependenciesCountOnDemand tests that Optional dependencies count only with --optional, because a fleet may lack them.
func TestOptionalDependenciesCountOnDemand(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := fleet.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	builder := fake.NewClientBuilder().WithScheme(scheme)
	registrations := fixture.Registrations("portal: proxy?, proxy:")
	for i := range registrations {
		builder.WithObjects(&registrations[i])
	}
	portal := addOn("cluster1", "portal", "True")
	portal.Status.Conditions = append(portal.Status.Conditions, metav1.Condition{
		Type: addonv1alpha1.ManagedClusterAddOnConditionDegraded, Status: metav1.ConditionTrue,
		Reason:  addonv1alpha1.AddonDegradedReasonDependencyNotSatisfied,
		Message: "Optional addon 'proxy' is not installed or not available.", LastTransitionTime: fixture.Now,
	})
	hub, err := snapshot.Take(t.Context(), builder.WithObjects(portal).Build(), "")
	if err != nil {
		t.Fatal(err)
	}
	goal := target{addOns: []string{"portal"}, goals: []string{goalSatisfied, goalAvailable}}
	if got := measure(hub, goal); len(got.waiting) > 0 || got.okAddOns != 1 {
		t.Errorf("it waits for %v", got.waiting)
	}
	goal.optional = true
	if got := measure(hub, goal); len(got.waiting) != 1 || !strings.Contains(got.waiting[0].reason, "(an Optional dependency)") {
		t.Errorf("with --optional it waits for %v", got.waiting)
	}
}
