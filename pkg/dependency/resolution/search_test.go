package resolution

import (
	"fmt"
	"maps"
	"testing"

	"open-cluster-management.io/interlock/test/fixture"
)

// The search that looks at chosen releases only finds what the other one does, where it finds anything.
func TestBothSearchesFindTheSame(t *testing.T) {
	both := 0
	for seed := range uint64(400) {
		random := fixture.Random(seed)
		var releases []Release
		const addOns, versions = 6, 4
		name := func(i int) string { return fmt.Sprintf("addon-%d", i%addOns) }
		for i := range addOns {
			for v := range versions {
				addOn := fixture.Registration(name(i))
				for e := range random.IntN(3) {
					edge := fixture.Required(fmt.Sprintf("edge-%d", e))
					edge.AddOn, edge.Version = name(i+1+random.IntN(addOns-1)), fmt.Sprintf(">= %d", random.IntN(versions+1))
					addOn.Spec.Dependencies = append(addOn.Spec.Dependencies, edge)
				}
				releases = append(releases, Release{AddOn: addOn.Name, Version: fmt.Sprintf("%d.0.0", v), Registration: addOn})
			}
		}
		p, err := newProblem(releases, []Wish{{AddOn: name(0)}, {AddOn: name(1), Version: "< 3"}}, &Kind{})
		if err != nil {
			t.Fatal(err)
		}
		shallow, stuck := p.search(p.wishes, false)
		if stuck {
			continue
		}
		both++
		if deep, _ := p.search(p.wishes, true); !maps.Equal(shallow.chosen, deep.chosen) {
			t.Errorf("seed %d: %v and %v", seed, shallow.chosen, deep.chosen)
		}
	}
	if both < 50 {
		t.Errorf("both found something %d times", both)
	}
}
