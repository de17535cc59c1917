package resolution_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/resolution"
	"open-cluster-management.io/interlock/test/fixture"
)

// size is the size of a large catalog.
type size struct {
	addOns, versions, wishes int
	// width is the width of ranges. limits is the number of wishes that limit add-ons that others need.
	width, limits int
}

// largeCatalog returns releases and wishes. Each version requires add-ons with higher numbers, in versions near its own.
func largeCatalog(random *rand.Rand, s size) ([]resolution.Release, []resolution.Wish) {
	var releases []resolution.Release
	var wishes []resolution.Wish
	name := func(i int) string { return fmt.Sprintf("addon-%03d", i) }
	for i := range s.addOns {
		for v := range s.versions {
			registration := fixture.Registration(name(i))
			for e := range min(5, s.addOns-i-1) {
				dependency := i + 1 + random.IntN(min(20, s.addOns-i-1))
				edge := fixture.Required(fmt.Sprintf("edge-%d", e))
				low := max(0, v-random.IntN(s.width))
				edge.AddOn, edge.Version = name(dependency), fmt.Sprintf(">= 1.%d.0 < 1.%d.0", low, v+random.IntN(s.width)+1)
				if random.IntN(10) == 0 {
					edge.Type = addonv1alpha1.DependencyTypeIfInstalled
				}
				registration.Spec.Dependencies = append(registration.Spec.Dependencies, edge)
			}
			version := fmt.Sprintf("1.%d.0", v)
			releases = append(releases, resolution.Release{
				AddOn: name(i), Version: version, Registration: fixture.Versioned(registration, version),
			})
		}
	}
	for i := range min(s.wishes, s.addOns) {
		wishes = append(wishes, resolution.Wish{AddOn: name(i), Version: ">= 1.10"})
	}
	for range s.limits {
		addOn := s.addOns/2 + random.IntN(s.addOns/2)
		wishes = append(wishes, resolution.Wish{AddOn: name(addOn), Version: fmt.Sprintf("< 1.%d", 20+random.IntN(20)), OnlyIfNeeded: true})
	}
	return releases, wishes
}

// sizes has sizes of catalogs of 200 add-ons with 50 versions each. The limits in the last three exclude most of the highest
// versions.
var sizes = map[string]size{
	"without limits":            {200, 50, 20, 10, 0},
	"one limit":                 {200, 50, 20, 20, 1},
	"four limits":               {200, 50, 20, 10, 4},
	"one limit, narrow ranges":  {200, 50, 20, 3, 1},
	"one limit, middle ranges":  {200, 50, 20, 5, 1},
	"four limits, narrow range": {200, 50, 20, 3, 4},
}

func BenchmarkResolve(b *testing.B) {
	for name, s := range sizes {
		b.Run(name, func(b *testing.B) {
			releases, wishes := largeCatalog(fixture.Random(1), s)
			for b.Loop() {
				if _, err := resolution.Resolve(releases, wishes, resolution.Kind{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A large catalog is resolved within the limit of steps. BenchmarkResolve measures the time.
func TestLargeCatalogue(t *testing.T) {
	for name, s := range sizes {
		t.Run(name, func(t *testing.T) {
			s.addOns, s.versions = 60, 30 // for the race detector
			releases, wishes := largeCatalog(fixture.Random(0), s)
			result, err := resolution.Resolve(releases, wishes, resolution.Kind{})
			if err != nil {
				t.Error(err)
			} else if len(result.Choices) < 50 {
				t.Errorf("%d choices", len(result.Choices))
			}
		})
	}
}
