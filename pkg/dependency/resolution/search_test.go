package resolution

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"testing"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/test/fixture"
)

// tangled makes a problem with edges in all directions.
func tangled(t *testing.T, seed uint64, wished string) *problem {
	t.Helper()
	random := fixture.Random(seed)
	var releases []Release
	const addOns, versions = 8, 5
	name := func(i int) string { return fmt.Sprintf("addon-%d", i%addOns) }
	for i := range addOns {
		for v := range versions {
			addOn := fixture.Registration(name(i))
			for e := range random.IntN(4) {
				edge := fixture.Required(fmt.Sprintf("edge-%d", e))
				edge.AddOn, edge.Version = name(i+1+random.IntN(addOns-1)), fmt.Sprintf(">= %d", random.IntN(versions+1))
				switch random.IntN(4) {
				case 0:
					edge.Type = addonv1alpha1.DependencyTypeConflicts
				case 1:
					edge.AnyOf = []addonv1alpha1.DependencyAlternative{{AddOn: edge.AddOn, Version: edge.Version}, {AddOn: name(random.IntN(addOns))}}
					edge.AddOn, edge.Version = "", ""
				}
				addOn.Spec.Dependencies = append(addOn.Spec.Dependencies, edge)
			}
			releases = append(releases, Release{AddOn: addOn.Name, Version: fmt.Sprintf("%d.0.0", v), Registration: addOn})
		}
	}
	p, err := newProblem(releases, []Wish{
		{AddOn: name(0), Version: wished}, {AddOn: name(1), Version: "< 4"}, {AddOn: name(2), Version: wished},
	}, &Kind{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A rehearsal makes choices in another order. It does not change the result.
func TestRehearsalsChangeNoChoice(t *testing.T) {
	resolved, rehearsed := 0, 0
	for seed := range uint64(600) {
		p := tangled(t, seed, "")
		p.rehearseAfter = math.MaxInt
		plain := p.solve(p.wishes)
		p.rehearseAfter = 0
		result := p.solve(p.wishes)
		if (plain.selection == nil) != (result.selection == nil) || !maps.Equal(plain.selection, result.selection) ||
			plain.exhausted || result.exhausted {
			t.Errorf("seed %d: %v and %v", seed, plain.selection, result.selection)
		}
		if result.selection != nil {
			resolved++
		}
		if result.rehearsals > 0 {
			rehearsed++
		}
	}
	if resolved < 100 || rehearsed < 100 {
		t.Errorf("%d resolved, %d rehearsed", resolved, rehearsed)
	}
}

// The declarations of a message are enough for the conflict, and none of them can be left out.
func TestConflictsHaveNoDeclarationTooManyOrTooFew(t *testing.T) {
	conflicts, several := 0, 0
	for seed := range uint64(600) {
		p := tangled(t, seed, "4.0.0")
		result := p.solve(p.wishes)
		if result.selection != nil {
			continue
		}
		sources, bounded := p.smallestSources(p.wishes, result.involved)
		if bounded {
			t.Fatalf("seed %d: the limit was reached", seed)
		}
		conflicts++
		if len(sources) > 1 {
			several++
		}
		for leftOut := -1; leftOut < len(sources); leftOut++ {
			p.activeSources = map[source]bool{}
			for i, declaring := range sources {
				p.activeSources[declaring] = i != leftOut
			}
			if reduced := p.solve(p.wishes); (reduced.selection == nil) != (leftOut < 0) {
				t.Errorf("seed %d: %d of %v left out: %v", seed, leftOut, sources, reduced.selection)
			}
		}
	}
	if conflicts < 100 || several < 50 {
		t.Errorf("%d conflicts, %d of several declarations", conflicts, several)
	}
}

// Nine add-ons need different ones of eight versions. A search needs very much work to find that this is impossible, and
// ends at its limit.
func TestTooManyCombinationsAreReported(t *testing.T) {
	var releases []Release
	var wishes []Wish
	const addOns = 9
	name := func(i int) string { return fmt.Sprintf("addon-%d", i) }
	for i := range addOns {
		wishes = append(wishes, Wish{AddOn: name(i)})
		for v := 1; v < addOns; v++ {
			version := fmt.Sprintf("%d.0.0", v)
			registration := fixture.Registration(name(i))
			for j := range addOns {
				if edge := fixture.Required(name(j)); j != i {
					edge.Type, edge.Version = addonv1alpha1.DependencyTypeConflicts, version
					registration.Spec.Dependencies = append(registration.Spec.Dependencies, edge)
				}
			}
			releases = append(releases, Release{AddOn: name(i), Version: version, Registration: registration})
		}
	}
	for wanted, c := range map[int]struct {
		limit int
		want  error
	}{addOns: {100_000, ErrTooManyCombinations}, addOns - 1: {100_000, nil}} {
		p, err := newProblem(releases, wishes[:wanted], &Kind{})
		if err != nil {
			t.Fatal(err)
		}
		p.limit = c.limit
		if _, err := p.resolve(); !errors.Is(err, c.want) {
			t.Errorf("%d wishes: got %v", wanted, err)
		}
	}
}
