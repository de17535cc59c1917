package resolution_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/resolution"
	"open-cluster-management.io/interlock/test/fixture"
)

// large has 200 add-ons with 50 versions each. Each version requires the add-ons after it, in the versions of its time.
func large(random *rand.Rand, addOns, versions int) (releases []resolution.Release, wishes []resolution.Wish) {
	name := func(i int) string { return fmt.Sprintf("addon-%03d", i) }
	for i := range addOns {
		for v := range versions {
			registration := fixture.Registration(name(i))
			for e := range min(5, addOns-i-1) {
				on := i + 1 + random.IntN(min(20, addOns-i-1))
				edge := fixture.Required(fmt.Sprintf("edge-%d", e))
				low := max(0, v-random.IntN(10))
				edge.AddOn, edge.Version = name(on), fmt.Sprintf(">= 1.%d.0 < 1.%d.0", low, v+random.IntN(10)+1)
				if random.IntN(10) == 0 {
					edge.Type = addonv1alpha1.DependencyTypeIfInstalled
				}
				registration.Spec.Dependencies = append(registration.Spec.Dependencies, edge)
			}
			releases = append(releases, resolution.Release{
				AddOn: name(i), Version: fmt.Sprintf("1.%d.0", v), Registration: fixture.Versioned(registration, fmt.Sprintf("1.%d.0", v)),
			})
		}
	}
	for i := range min(20, addOns) {
		wishes = append(wishes, resolution.Wish{AddOn: name(i), Version: ">= 1.10"})
	}
	return releases, wishes
}

func BenchmarkResolve(b *testing.B) {
	releases, wishes := large(fixture.Random(1), 200, 50)
	for b.Loop() {
		if _, err := resolution.Resolve(releases, wishes, resolution.Kind{}); err != nil {
			b.Fatal(err)
		}
	}
}

// Without too many steps there is a resolution. BenchmarkResolve measures the time.
func TestLargeCatalogue(t *testing.T) {
	for seed := range uint64(5) {
		releases, wishes := large(fixture.Random(seed), 200, 50)
		found, err := resolution.Resolve(releases, wishes, resolution.Kind{})
		if err != nil {
			t.Errorf("seed %d: %v", seed, err)
		} else if len(found.Choices) < 150 {
			t.Errorf("seed %d: %d choices", seed, len(found.Choices))
		}
	}
}
