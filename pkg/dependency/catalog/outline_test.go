package catalog

import (
	"testing"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/test/fixture"
)

func TestAnOutlineReadsADeclarationOnce(t *testing.T) {
	hub := fixture.ConditionalHub(4, 3)
	var empty *Outline
	previous := empty.Renew(hub)
	if previous.Renew(hub) != previous {
		t.Error("made again although nothing has changed")
	}
	hub[1].Spec.Dependencies = []addonv1alpha1.AddonDependency{fixture.Gated(hub[2].Name, "on")}
	current := previous.Renew(hub)
	for i, changed := range []bool{false, true, false, false} {
		name := hub[i].Name
		if shared := &current.declarations[name].Edges[0] == &previous.declarations[name].Edges[0]; shared == changed {
			t.Errorf("%s: the same as before: %t", name, shared)
		}
	}
	if renamed := current.Renew(hub[1:]); renamed == current || renamed.registered(hub[0].Name) {
		t.Error("an add-on that is gone is still registered")
	}
}

// An add-on is judged the same by the outline as by the catalog of the whole hub.
func TestAnOutlineJudgesAsACatalogDoes(t *testing.T) {
	problems := 0
	for seed := range uint64(300) {
		r := fixture.Random(seed)
		var hub []addonv1alpha1.ClusterManagementAddOn
		for i := range 8 {
			addOn := fixture.Registration(string(rune('a' + i)))
			for range r.IntN(4) {
				target := string(rune('a' + r.IntN(9))) // i is not registered
				edge := []addonv1alpha1.AddonDependency{fixture.Required(target), fixture.Optional(target), fixture.Gated(target, "on")}[r.IntN(3)]
				addOn.Spec.Dependencies = append(addOn.Spec.Dependencies, edge)
			}
			hub = append(hub, addOn)
		}
		changed := hub[0].DeepCopy()
		changed.Spec.Dependencies = append(changed.Spec.Dependencies, fixture.Required(string(rune('b'+r.IntN(8)))))
		var empty *Outline
		got := empty.Renew(hub).CatalogWith(changed).Problems("a")
		want := New(append([]addonv1alpha1.ClusterManagementAddOn{*changed}, hub[1:]...)).Problems("a")
		if len(got) != len(want) {
			t.Fatalf("seed %d: got %v, want %v", seed, got, want)
		}
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("seed %d: got %v, want %v", seed, got[i], want[i])
			}
		}
		problems += len(want)
	}
	if problems < 200 {
		t.Errorf("only %d problems: too few to compare", problems)
	}
}
