package resolution

import (
	"errors"
	"fmt"
	"testing"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/resolution"
	"open-cluster-management.io/interlock/test/fixture"
)

// smaller is the result of a conflict whose explanation has reached its limit.
const smaller = "conflict, perhaps smaller"

// hardCatalog is an input that takes a search long.
type hardCatalog struct {
	name string
	make func() ([]resolution.Release, []resolution.Wish)
	// want is the result: solved, conflict, or gave up.
	want string
}

var hardCatalogs = []hardCatalog{
	{"8 exclusive add-ons, 7 versions", func() ([]resolution.Release, []resolution.Wish) { return exclusive(8) }, smaller},
	{"12 exclusive add-ons, 11 versions", func() ([]resolution.Release, []resolution.Wish) { return exclusive(12) }, "gave up"},
	{"random 3-SAT, 50 variables", func() ([]resolution.Release, []resolution.Wish) { return alternatives(0, 50) }, smaller},
	{"random 3-SAT, 150 variables", func() ([]resolution.Release, []resolution.Wish) { return alternatives(0, 150) }, "solved"},
	{"random 3-SAT, 250 variables", func() ([]resolution.Release, []resolution.Wish) { return alternatives(0, 250) }, "gave up"},
	{"60 x 5, random conflicts", func() ([]resolution.Release, []resolution.Wish) {
		return conflicting(0, 60, 5, 0.3, 0.15)
	}, smaller},
	{"200 x 50, random conflicts", func() ([]resolution.Release, []resolution.Wish) { return conflicting(0, 200, 50, 0.02, 0.3) }, "solved"},
	{"200 x 50, 4 limits", ranges200{edges: 5, width: 3, wishes: 20, limits: 4, limit: 20}.catalog, "solved"},
	{"200 x 50, 20 edges, 3 limits", ranges200{edges: 20, width: 30, wishes: 20, limits: 3, limit: 20}.catalog, "gave up"},
	{"200 x 50, no solution", ranges200{edges: 5, width: 3, wishes: 20, limits: 4, limit: 2}.catalog, smaller},
	{"200 x 50, 10 limits, no solution", ranges200{edges: 5, width: 5, wishes: 50, limits: 10, limit: 3}.catalog, "gave up"},
}

// exclusive returns add-ons that need different versions, and one version too few. Searches need very many steps for it.
func exclusive(addOns int) (releases []resolution.Release, wishes []resolution.Wish) {
	for i := range addOns {
		wishes = append(wishes, resolution.Wish{AddOn: nameOf(i)})
		for v := 1; v < addOns; v++ {
			version := fmt.Sprintf("%d.0.0", v)
			addOn := fixture.Registration(nameOf(i))
			for j := range addOns {
				if j != i {
					addOn.Spec.Dependencies = append(addOn.Spec.Dependencies, conflict(j, v))
				}
			}
			releases = append(releases, resolution.Release{AddOn: addOn.Name, Version: version, Registration: addOn})
		}
	}
	return releases, wishes
}

// conflict returns an edge that excludes a version of an add-on.
func conflict(addOn, version int) addonv1alpha1.AddonDependency {
	edge := fixture.Required(fmt.Sprintf("edge-%d-%d", addOn, version))
	edge.Type, edge.AddOn, edge.Version = addonv1alpha1.DependencyTypeConflicts, nameOf(addOn), fmt.Sprintf("%d.0.0", version)
	return edge
}

// alternatives returns a random 3-SAT formula with as many clauses as make it hardest. An add-on with two versions is a variable, and an
// add-on with an edge on any of three versions is a clause.
func alternatives(seed uint64, variables int) (releases []resolution.Release, wishes []resolution.Wish) {
	random := fixture.Random(seed)
	for i := range variables {
		for _, version := range []string{"1.0.0", "2.0.0"} {
			releases = append(releases, resolution.Release{AddOn: nameOf(i), Version: version, Registration: fixture.Registration(nameOf(i))})
		}
		wishes = append(wishes, resolution.Wish{AddOn: nameOf(i)})
	}
	for clause := range variables * 426 / 100 {
		edge := fixture.Required("any")
		for _, i := range random.Perm(variables)[:3] {
			edge.AnyOf = append(edge.AnyOf, addonv1alpha1.DependencyAlternative{
				AddOn: nameOf(i), Version: fmt.Sprintf("%d.0.0", 1+random.IntN(2)),
			})
		}
		addOn := fixture.Registration(fmt.Sprintf("clause-%03d", clause), edge)
		releases = append(releases, resolution.Release{AddOn: addOn.Name, Version: "1.0.0", Registration: addOn})
		wishes = append(wishes, resolution.Wish{AddOn: addOn.Name})
	}
	return releases, wishes
}

// conflicting returns add-ons that are all wanted. density is the share of the pairs of add-ons that have conflicts, and tightness
// the share of the versions of such a pair that conflict.
func conflicting(seed uint64, addOns, versions int, density, tightness float64) (releases []resolution.Release, wishes []resolution.Wish) {
	random := fixture.Random(seed)
	for i := range addOns {
		wishes = append(wishes, resolution.Wish{AddOn: nameOf(i)})
		registrations := make([]addonv1alpha1.ClusterManagementAddOn, versions)
		for v := range registrations {
			registrations[v] = fixture.Registration(nameOf(i))
		}
		for j := i + 1; j < addOns; j++ {
			if random.Float64() > density {
				continue
			}
			for v := range versions * versions {
				if edges := &registrations[v/versions].Spec.Dependencies; random.Float64() < tightness {
					*edges = append(*edges, conflict(j, v%versions))
				}
			}
		}
		for v := range registrations {
			releases = append(releases, resolution.Release{AddOn: nameOf(i), Version: fmt.Sprintf("%d.0.0", v), Registration: registrations[v]})
		}
	}
	return releases, wishes
}

// ranges200 is a catalog of 200 add-ons with 50 versions each. Each version requires later add-ons in versions near its own.
type ranges200 struct {
	// width is the width of ranges, and limits the number of add-ons whose versions are limited where no wish is.
	edges, width, wishes, limits int
	// limit is the lowest limit.
	limit int
}

func (r ranges200) catalog() (releases []resolution.Release, wishes []resolution.Wish) {
	const addOns, versions = 200, 50
	random := fixture.Random(1)
	for i := range addOns {
		for v := range versions {
			addOn := fixture.Registration(nameOf(i))
			for e := range min(r.edges, addOns-i-1) {
				edge := fixture.Required(fmt.Sprintf("edge-%d", e))
				edge.AddOn = nameOf(i + 1 + random.IntN(min(20, addOns-i-1)))
				edge.Version = fmt.Sprintf(">= 1.%d.0 < 1.%d.0", max(0, v-random.IntN(r.width)), v+random.IntN(r.width)+1)
				addOn.Spec.Dependencies = append(addOn.Spec.Dependencies, edge)
			}
			version := fmt.Sprintf("1.%d.0", v)
			releases = append(releases, resolution.Release{AddOn: addOn.Name, Version: version, Registration: fixture.Versioned(addOn, version)})
		}
	}
	for i := range r.wishes {
		wishes = append(wishes, resolution.Wish{AddOn: nameOf(i), Version: ">= 1.10"})
	}
	for range r.limits {
		wishes = append(wishes, resolution.Wish{
			AddOn: nameOf(addOns/2 + random.IntN(addOns/2)), OnlyIfNeeded: true, Version: fmt.Sprintf("< 1.%d", r.limit+random.IntN(12)),
		})
	}
	return releases, wishes
}

// resultOf returns the kind of the result of a resolution.
func resultOf(err error) string {
	conflict := (*resolution.Conflict)(nil)
	switch {
	case err == nil:
		return "solved"
	case errors.As(err, &conflict) && conflict.Bounded:
		return smaller
	case errors.As(err, &conflict):
		return "conflict"
	case errors.Is(err, resolution.ErrTooManyCombinations):
		return "gave up"
	default:
		return err.Error()
	}
}

// The limits count work and not time. So the result on a hard catalog is the same on every machine.
func TestHardCatalogs(t *testing.T) {
	for _, hard := range hardCatalogs {
		t.Run(hard.name, func(t *testing.T) {
			releases, wishes := hard.make()
			_, err := resolution.Resolve(releases, wishes, resolution.Kind{})
			if got := resultOf(err); got != hard.want {
				t.Errorf("%s, want %s: %.300s", got, hard.want, err)
			}
		})
	}
}
