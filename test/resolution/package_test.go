package resolution

import (
	"slices"
	"testing"

	"open-cluster-management.io/interlock/pkg/dependency/resolution"
	"open-cluster-management.io/interlock/test/fixture"
)

// A package has the chosen releases, and is refused unless these releases alone satisfy the wishes.
func TestTheChosenReleasesSatisfyTheWishesAlone(t *testing.T) {
	rounds := 1000
	if testing.Short() {
		rounds = 150
	}
	resolved := 0
	for seed := range rounds {
		random := fixture.Random(uint64(seed))
		s := shape{addOns: 3 + random.IntN(3), releases: 4, edges: 3}
		w := newWorld(s, random)
		result, err := resolution.Resolve(w.releases, w.wishes, kind)
		if err != nil {
			continue
		}
		resolved++
		chosen := chosenBy(result)
		packed := slices.DeleteFunc(slices.Clone(w.releases), func(release resolution.Release) bool {
			return chosen[release.AddOn] != release.Version
		})
		if _, err := resolution.Resolve(packed, w.wishes, kind); err != nil {
			t.Errorf("seed %d: %v was chosen: %v", seed, chosen, err)
		}
	}
	if resolved < rounds/5 {
		t.Errorf("%d resolved: the catalogs are too much alike", resolved)
	}
}
