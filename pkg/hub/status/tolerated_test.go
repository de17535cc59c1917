package status

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/hub/assess"
)

// The hub's clock counts, and not the clock of the managed cluster. The add-on is reconciled at
// the exact time, and not written before.
func TestToleratedToTheMoment(t *testing.T) {
	for name, ahead := range map[string]time.Duration{"right": 0, "an hour slow": -time.Hour, "a day fast": 24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, addOn("leaf"), baseIs(metav1.ConditionTrue, "Running", aTime))
			registration := addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: leaf.Name}}
			registration.Spec.Dependencies = []addonv1alpha1.AddonDependency{{Name: "base", Tolerate: "2m"}}
			b.Declarations.Set(evaluation.New(catalog.New([]addonv1alpha1.ClusterManagementAddOn{registration})))
			m := assess.Watch{Declarations: b.Declarations, Fleet: b.Assessor.Fleet, Memory: b.Memory, Forget: b.Backoff.Forget}
			if result, err := b.reconcile(t); err != nil || !result.IsZero() || b.applies > 0 {
				t.Fatalf("%v, %v, %d writes", result, err, b.applies)
			}
			b.store(t, m, baseIs(metav1.ConditionFalse, "Stopped", b.clock.Now().Add(ahead)))
			b.expectHeld(t, "stopped", 2*time.Minute)
			b.clock.Step(90 * time.Second)
			b.expectHeld(t, "for a while", 30*time.Second)
			b.clock.Step(30 * time.Second)
			b.expectHeld(t, "for two minutes", 0)
		})
	}
}
