package console

import (
	"fmt"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/report/overview"
	"open-cluster-management.io/interlock/test/fixture"
	"open-cluster-management.io/interlock/test/mixedfleet"
)

// BenchmarkChange computes the view of 5,000 managed clusters with 20 add-ons after a change of one add-on.
func BenchmarkChange(b *testing.B) {
	content := mixedfleet.Content(5000)
	content.AddOns = slices.Grow(content.AddOns, len(content.AddOns))
	for _, addOn := range slices.Clone(content.AddOns) {
		other := addOn.DeepCopy()
		other.Name += "-2"
		content.AddOns = append(content.AddOns, other)
	}
	for i := range 10 {
		name := content.Registrations[i%len(content.Registrations)].Name
		content.Registrations = append(content.Registrations, fixture.Registrations(fmt.Sprintf("%s-2: %s", name, name))...)
	}
	fleet := NewFleet()
	view := NewView(fleet, nil)
	index := slices.IndexFunc(content.AddOns, func(addOn *addonv1alpha1.ManagedClusterAddOn) bool {
		return addOn.Name == "work-manager" && addOn.Namespace == "cluster0001"
	})
	states := []metav1.ConditionStatus{metav1.ConditionTrue, metav1.ConditionFalse}
	i := 0
	for b.Loop() {
		i++
		content.AddOns = slices.Clone(content.AddOns)
		changed := content.AddOns[index].DeepCopy()
		changed.Status.Conditions = []metav1.Condition{*fixture.Available(states[i%2], "Any")}
		content.AddOns[index] = changed
		fleet.Update(snapshot.New(content), func(*snapshot.Snapshot) overview.Options {
			return overview.Options{
				Now: content.Taken, GroupBy: "region", Command: func(line string) string { return line }, Note: func(string) string { return "" },
			}
		})
		if _, err := view.at(fleet.moment()); err != nil {
			b.Fatal(err)
		}
	}
}
