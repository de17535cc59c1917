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

// A fleet may leave out what is Optional.
func TestOptionalDependenciesCountOnDemand(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := fleet.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	builder := fake.NewClientBuilder().WithScheme(scheme)
	registered := fixture.Registrations("portal: proxy?, proxy:")
	for i := range registered {
		builder.WithObjects(&registered[i])
	}
	portal := addOn("cluster1", "portal", "True")
	portal.Status.Conditions = append(portal.Status.Conditions, metav1.Condition{
		Type: addonv1alpha1.ManagedClusterAddOnConditionDegraded, Status: metav1.ConditionTrue,
		Reason:  addonv1alpha1.AddonDegradedReasonDependencyNotSatisfied,
		Message: "Optional addon 'proxy' is not installed or not available.", LastTransitionTime: fixture.Now,
	})
	fleetOf, err := snapshot.Take(t.Context(), builder.WithObjects(portal).Build(), "")
	if err != nil {
		t.Fatal(err)
	}
	to := target{addOns: []string{"portal"}, goals: []string{satisfied, available}}
	if found := measure(fleetOf, to); len(found.waiting) > 0 || found.okAddOns != 1 {
		t.Errorf("it waits for %v", found.waiting)
	}
	to.optional = true
	if found := measure(fleetOf, to); len(found.waiting) != 1 || !strings.Contains(found.waiting[0].why, "(an Optional dependency)") {
		t.Errorf("with --optional it waits for %v", found.waiting)
	}
}
