package resolution

import (
	"errors"
	"fmt"
	"math/bits"
	"strings"
	"testing"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/test/fixture"
)

// smallestBySubsets returns the smallest number of elements that conflict, by trying all subsets. It is for a few elements only.
func smallestBySubsets(elements int, conflicts func(subset uint) bool) int {
	smallest := elements
	for subset := range uint(1) << elements {
		if size := bits.OnesCount(subset); size < smallest && conflicts(subset) {
			smallest = size
		}
	}
	return smallest
}

// No smaller set of wishes, and then of the involved declarations, excludes a solution.
func TestConflictsNameTheSmallestSets(t *testing.T) {
	reduced := map[string]int{}
	for seed := range uint64(400) {
		p := tangled(t, seed, "4.0.0")
		result := p.solve(p.wishes)
		if result.outcome() != conflicting || len(result.involved) > 10 {
			continue
		}
		core, bounded := p.smallestWishes()
		within := func(subset uint) bool {
			var wishes []wish
			for i := range p.wishes {
				if subset&(1<<i) != 0 {
					wishes = append(wishes, p.wishes[i])
				}
			}
			result := p.solve(wishes)
			return result.outcome() == conflicting
		}
		if want := smallestBySubsets(len(p.wishes), within); len(core) != want || bounded {
			t.Errorf("seed %d: %d wishes, want %d", seed, len(core), want)
		}
		result = p.solve(core)
		sources, bounded := p.smallestSources(core, result.involved)
		var all []source
		for declaring := range result.involved {
			all = append(all, declaring)
		}
		active := func(subset uint) bool {
			p.activeSources = map[source]bool{}
			for i, declaring := range all {
				p.activeSources[declaring] = subset&(1<<i) != 0
			}
			result := p.solve(core)
			return result.outcome() == conflicting
		}
		if want := smallestBySubsets(len(all), active); len(sources) != want || bounded {
			t.Errorf("seed %d: %d declarations, want %d of %d", seed, len(sources), want, len(all))
		}
		reduced[fmt.Sprintf("%d wishes", len(core))]++
		if len(sources) > 1 && len(sources) < len(all) {
			reduced["declarations"]++
		}
	}
	if reduced["1 wishes"] < 20 || reduced["2 wishes"] < 20 || reduced["declarations"] < 10 {
		t.Errorf("the conflicts are too much alike: %v", reduced)
	}
}

// Leaving out one element after the other ends at a set of three here, and two others are enough.
func TestTheSmallestSetIsFoundBesideAMinimalOne(t *testing.T) {
	p := tangled(t, 0, "")
	conflicts := []bitset{{0b00111}, {0b11000}}
	r := reduction{problem: p, try: func(set bitset) trial {
		for _, conflict := range conflicts {
			if conflict.without(set).empty() {
				return trial{conflicting, set}
			}
		}
		return trial{satisfiable, set}
	}}
	if minimal := r.minimal(bitset{0b11111}); minimal.count() != 2 {
		t.Errorf("minimal %b", minimal)
	}
	conflicts[0], conflicts[1] = bitset{0b11100}, bitset{0b00011}
	if minimal := r.minimal(bitset{0b11111}); minimal.count() != 3 {
		t.Errorf("minimal %b", minimal)
	}
	if smallest := r.smallest(bitset{0b11111}); smallest.count() != 2 || r.bounded {
		t.Errorf("smallest %b, bounded %t", smallest, r.bounded)
	}
}

// A message says when there may be a smaller set.
func TestAConflictSaysWhenTheLimitWasReached(t *testing.T) {
	var releases []Release
	var wishes []Wish
	for i := range 6 {
		name := fmt.Sprintf("addon-%d", i)
		edge := fixture.Required("target")
		edge.Version = fmt.Sprintf("> %d", i)
		releases = append(releases, Release{AddOn: name, Version: "1.0.0", Registration: fixture.Registration(name, edge)})
		wishes = append(wishes, Wish{AddOn: name})
	}
	enemy := fixture.Required("target")
	enemy.Type = addonv1alpha1.DependencyTypeConflicts
	releases = append(releases,
		Release{AddOn: "target", Version: "9.0.0", Registration: fixture.Registration("target")},
		Release{AddOn: "enemy", Version: "1.0.0", Registration: fixture.Registration("enemy", enemy)})
	wishes = append(wishes, Wish{AddOn: "enemy"})
	for _, limit := range []int{0, MaxExplanation} {
		p, err := newProblem(releases, wishes, &Kind{})
		if err != nil {
			t.Fatal(err)
		}
		result := p.solve(p.wishes)
		p.limit = p.work + limit
		conflict := (*Conflict)(nil)
		if err := p.explain(result.involved); !errors.As(err, &conflict) {
			t.Fatal(err)
		}
		bounded := limit == 0
		if says := strings.Contains(conflict.Error(), "has reached its limit"); says != bounded || conflict.Bounded != bounded {
			t.Errorf("limit %d: %v", limit, conflict)
		}
		if want := 2; !bounded && len(conflict.Wishes) != want {
			t.Errorf("%d wishes, want %d", len(conflict.Wishes), want)
		}
	}
}
