package resolution_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/resolution"
	"open-cluster-management.io/interlock/test/fixture"
)

// size is what large catalogs are made of.
type size struct {
	addOns, versions, wishes int
	// width is of ranges, and limits how many wishes limit add-ons that others need.
	width, limits int
}

// large has add-ons whose versions require add-ons after them, in the versions of their time.
func large(random *rand.Rand, of size) (releases []resolution.Release, wishes []resolution.Wish) {
	name := func(i int) string { return fmt.Sprintf("addon-%03d", i) }
	for i := range of.addOns {
		for v := range of.versions {
			registration := fixture.Registration(name(i))
			for e := range min(5, of.addOns-i-1) {
				on := i + 1 + random.IntN(min(20, of.addOns-i-1))
				edge := fixture.Required(fmt.Sprintf("edge-%d", e))
				low := max(0, v-random.IntN(of.width))
				edge.AddOn, edge.Version = name(on), fmt.Sprintf(">= 1.%d.0 < 1.%d.0", low, v+random.IntN(of.width)+1)
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
	for i := range min(of.wishes, of.addOns) {
		wishes = append(wishes, resolution.Wish{AddOn: name(i), Version: ">= 1.10"})
	}
	for range of.limits {
		on := of.addOns/2 + random.IntN(of.addOns/2)
		wishes = append(wishes, resolution.Wish{AddOn: name(on), Version: fmt.Sprintf("< 1.%d", 20+random.IntN(20)), OnlyIfNeeded: true})
	}
	return releases, wishes
}

// sizes are 200 add-ons with 50 versions each. In the last three, limits are far away from most wishes, so most of the highest
// versions go with nothing.
var sizes = map[string]size{
	"without limits":            {200, 50, 20, 10, 0},
	"one limit":                 {200, 50, 20, 20, 1},
	"four limits":               {200, 50, 20, 10, 4},
	"one limit, narrow ranges":  {200, 50, 20, 3, 1},
	"one limit, middle ranges":  {200, 50, 20, 5, 1},
	"four limits, narrow range": {200, 50, 20, 3, 4},
}

func BenchmarkResolve(b *testing.B) {
	for name, of := range sizes {
		b.Run(name, func(b *testing.B) {
			releases, wishes := large(fixture.Random(1), of)
			for b.Loop() {
				if _, err := resolution.Resolve(releases, wishes, resolution.Kind{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Without too many steps there is a resolution. BenchmarkResolve measures the time.
func TestLargeCatalogue(t *testing.T) {
	for name, of := range sizes {
		t.Run(name, func(t *testing.T) {
			of.addOns, of.versions = 60, 30 // for the race detector
			releases, wishes := large(fixture.Random(0), of)
			found, err := resolution.Resolve(releases, wishes, resolution.Kind{})
			if err != nil {
				t.Error(err)
			} else if len(found.Choices) < 50 {
				t.Errorf("%d choices", len(found.Choices))
			}
		})
	}
}
