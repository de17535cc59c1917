package simulator

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
)

func TestAddOnsAreTheSameForTheSameSeed(t *testing.T) {
	if diff := cmp.Diff(AddOns(50, 1), AddOns(50, 1)); diff != "" {
		t.Error(diff)
	}
	if cmp.Equal(AddOns(50, 1), AddOns(50, 2)) {
		t.Error("another seed draws the same")
	}
}

func TestAddOnsDeclareNothingThatIsWrong(t *testing.T) {
	for _, count := range []int{MinAddOns, 13, 60} {
		addOns := AddOns(count, 1)
		if len(addOns) != count {
			t.Errorf("%d add-ons, want %d", len(addOns), count)
		}
		var registrations []addonv1alpha1.ClusterManagementAddOn
		for _, addOn := range addOns {
			registration := addonv1alpha1.ClusterManagementAddOn{}
			registration.Name, registration.Spec.Dependencies = addOn.Name, addOn.Dependencies
			registrations = append(registrations, registration)
		}
		catalog := catalog.New(registrations)
		for _, addOn := range addOns {
			if problems := catalog.Problems(addOn.Name); len(problems) > 0 {
				t.Errorf("%s of %d: %v", addOn.Name, count, problems)
			}
		}
	}
}

func TestDependents(t *testing.T) {
	want := []Edge{{"multicluster-kueue-manager", true}, {"cluster-gateway", true}}
	if diff := cmp.Diff(want, Dependents(AddOns(MinAddOns, 1), Root)); diff != "" {
		t.Error(diff)
	}
	if edges := Dependents(AddOns(60, 1), Leaf); len(edges) != 0 {
		t.Errorf("somebody depends on the leaf: %v", edges)
	}
}

func TestExpected(t *testing.T) {
	fleet := &Fleet{AddOns: AddOns(MinAddOns, 1)}
	const cluster = "cluster1"
	degraded := func(reason string) State {
		return State{Degraded: Condition{Status: "True", Reason: reason}}
	}
	for _, c := range []struct {
		name, addOn, down string
		state             State
		want              bool
	}{
		{"nothing is down", "cluster-gateway", "", State{}, true},
		{"nothing is down any more", "cluster-gateway", "", State{Degraded: Condition{Status: "False", Reason: "DependenciesSatisfied"}}, true},
		{"nothing is down, and it is degraded", "cluster-gateway", "", degraded("RequiredDependencyNotSatisfied"), false},
		{"a Required one", "cluster-gateway", Root, degraded("RequiredDependencyNotSatisfied"), true},
		{"a Required one, taken for Optional", "cluster-gateway", Root, degraded("DependencyNotSatisfied"), false},
		{"a Required one, not noticed", "cluster-gateway", Root, State{}, false},
		{"an Optional one", "cluster-gateway", "cluster-proxy", degraded("DependencyNotSatisfied"), true},
		{"one that it does not depend on", "cluster-gateway", Leaf, State{}, true},
	} {
		expected := fleet.Expected([]string{cluster}, func(key types.NamespacedName) bool { return key.Name == c.down })
		if got := expected[types.NamespacedName{Namespace: cluster, Name: c.addOn}](c.state); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
