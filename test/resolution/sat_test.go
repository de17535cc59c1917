package resolution

import (
	"maps"
	"slices"
	"testing"

	"github.com/Masterminds/semver/v3"
	"github.com/crillab/gophersat/solver"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/versions"
	"open-cluster-management.io/interlock/pkg/dependency/resolution"
	"open-cluster-management.io/interlock/test/fixture"
)

// formula has a variable for each release. It is true if the release is chosen.
type formula struct {
	releases  []resolution.Release
	variables map[string][]int // by add-on
	clauses   [][]int
}

// formulaOf returns the declarations of the releases, and the wishes, as clauses.
func formulaOf(w world) *formula {
	f := &formula{releases: w.allowed, variables: map[string][]int{}}
	for i := range f.releases {
		f.variables[f.releases[i].AddOn] = append(f.variables[f.releases[i].AddOn], i+1)
	}
	for _, versions := range f.variables {
		for i, a := range versions {
			for _, b := range versions[:i] {
				f.clauses = append(f.clauses, []int{-a, -b})
			}
		}
	}
	for i := range f.releases {
		for _, edge := range f.releases[i].Registration.Spec.Dependencies {
			f.addEdge(i+1, edge)
		}
	}
	for _, wish := range w.wishes {
		within, others := f.split(wish.AddOn, wish.Version, wish.Prereleases)
		if !wish.OnlyIfNeeded {
			f.clauses = append(f.clauses, within)
		}
		for _, variable := range others {
			f.clauses = append(f.clauses, []int{-variable})
		}
	}
	return f
}

// split returns the releases of an add-on in a range, and the others.
func (f *formula) split(addOn, accepted string, prereleases *addonv1alpha1.DependencyPrereleases) (within, others []int) {
	var parsed *versions.Range
	if accepted != "" {
		var err error
		if parsed, err = versions.ParseRange(accepted, prereleases); err != nil {
			return nil, f.variables[addOn]
		}
	}
	for _, variable := range f.variables[addOn] {
		if parsed == nil || parsed.Mismatch(semver.MustParse(f.releases[variable-1].Version)) == "" {
			within = append(within, variable)
		} else {
			others = append(others, variable)
		}
	}
	return within, others
}

// addEdge adds the clauses of an edge of a release.
func (f *formula) addEdge(release int, edge addonv1alpha1.AddonDependency) {
	if len(edge.AnyOf) > 0 {
		clause := []int{-release}
		for _, alternative := range edge.AnyOf {
			within, _ := f.split(alternative.AddOn, alternative.Version, nil)
			clause = append(clause, within...)
		}
		f.clauses = append(f.clauses, clause)
		return
	}
	within, others := f.split(edge.AddOn, edge.Version, nil)
	excluded := others
	switch edge.Type {
	case addonv1alpha1.DependencyTypeRequired:
		f.clauses = append(f.clauses, append([]int{-release}, within...))
		excluded = nil // a second release of the add-on is excluded already
	case addonv1alpha1.DependencyTypeConflicts:
		excluded = within
	default:
	}
	for _, variable := range excluded {
		f.clauses = append(f.clauses, []int{-release, -variable})
	}
}

// satisfiable reports whether there is a choice with these variables, too.
func (f *formula) satisfiable(chosen ...int) bool {
	clauses := slices.Clone(f.clauses)
	for _, variable := range chosen {
		clauses = append(clauses, []int{variable})
	}
	for _, clause := range clauses {
		if len(clause) == 0 {
			return false
		}
	}
	if len(clauses) == 0 {
		return true
	}
	return solver.New(solver.ParseSlice(clauses)).Solve() == solver.Sat
}

// A SAT solver finds a choice exactly if there is a resolution. The wished add-ons have the highest versions that it
// finds, one after the other.
func TestResolutionAgreesWithSAT(t *testing.T) {
	rounds := 1000
	if testing.Short() {
		rounds = 100
	}
	resolved, refused := 0, 0
	for seed := range rounds {
		random := fixture.Random(uint64(seed))
		w := newWorld(shape{addOns: 6 + random.IntN(20), releases: len(numbers), edges: 2 + random.IntN(4), ordered: true}, random)
		f := formulaOf(w)
		result, err := resolution.Resolve(w.releases, w.wishes, kind)
		if ok := f.satisfiable(); ok != (err == nil) {
			t.Fatalf("seed %d: the SAT solver finds a choice: %t; resolution: %v", seed, ok, err)
		}
		if err != nil {
			refused++
			continue
		}
		resolved++
		expectHighest(t, f, w, chosenBy(result), seed)
	}
	if resolved < rounds/5 || refused < rounds/10 {
		t.Errorf("%d resolved, %d refused: the catalogs are too much alike", resolved, refused)
	}
}

func expectHighest(t *testing.T, f *formula, w world, chosen choice, seed int) {
	t.Helper()
	var fixed []int
	names := map[string]bool{}
	for _, wish := range w.wishes {
		if !wish.OnlyIfNeeded {
			names[wish.AddOn] = true
		}
	}
	for _, addOn := range slices.Sorted(maps.Keys(names)) {
		own := 0
		for _, variable := range f.variables[addOn] {
			version := f.releases[variable-1].Version
			if version == chosen[addOn] {
				own = variable
			} else if semver.MustParse(version).GreaterThan(semver.MustParse(chosen[addOn])) && f.satisfiable(append(fixed, variable)...) {
				t.Errorf("seed %d: %s %s is possible, and %s is chosen", seed, addOn, version, chosen[addOn])
			}
		}
		if fixed = append(fixed, own); !f.satisfiable(fixed...) {
			t.Errorf("seed %d: %s %s is not possible", seed, addOn, chosen[addOn])
		}
	}
}
