package resolution

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/resolution"
	"open-cluster-management.io/interlock/test/fixture"
)

// kind is the kind of clusters of all tests.
var kind = resolution.Kind{
	Name: "edge", Kubernetes: "1.30.2", Labels: map[string]string{"tier": "edge"},
	APIs: []addonv1alpha1.AddonAPI{{Group: "example.com", Version: "v1", Kind: "Served"}},
}

var (
	numbers = []string{"1.0.0", "1.1.0", "2.0.0-rc.1", "2.0.0", "3.0.0"}
	ranges  = []string{"", "*", ">= 1.1", "< 2", "^2.0.0-0", "1.0.0 || 3.x", ">= 2"}
	kinds   = []string{"Served", "Near", "Far"}
)

// shape describes the size of random catalogs.
type shape struct {
	addOns, releases, edges int
	// ordered is true if edges lead only to later add-ons. Then there are no cycles, and each edge is on an add-on.
	ordered bool
}

// catalog makes releases. The releases of one add-on differ in their declarations.
func (s shape) catalog(random *rand.Rand) []resolution.Release {
	var releases []resolution.Release
	for i := range s.addOns {
		for _, index := range random.Perm(len(numbers))[:1+random.IntN(s.releases)] {
			addOn := fixture.Versioned(fixture.Registration(nameOf(i)), numbers[index])
			for e := range random.IntN(s.edges + 1) {
				if edge, ok := s.edge(random, i, e); ok {
					addOn.Spec.Dependencies = append(addOn.Spec.Dependencies, edge)
				}
			}
			if !s.ordered && random.IntN(6) == 0 {
				addOn.Spec.Requirements = &addonv1alpha1.AddonRequirements{Kubernetes: []string{">= 1.28", ">= 1.31"}[random.IntN(2)]}
			}
			if !s.ordered && random.IntN(4) == 0 {
				addOn.Spec.Provides = []addonv1alpha1.AddonAPI{api(random)}
			}
			releases = append(releases, resolution.Release{AddOn: addOn.Name, Version: numbers[index], Registration: addOn})
		}
	}
	return releases
}

func nameOf(i int) string { return fmt.Sprintf("addon-%03d", i) }

// edge makes an edge of the add-on with the number source. It returns false if there is no add-on to depend on.
func (s shape) edge(random *rand.Rand, source, number int) (addonv1alpha1.AddonDependency, bool) {
	edge := addonv1alpha1.AddonDependency{}
	target := func() string { return nameOf(random.IntN(s.addOns)) }
	if s.ordered {
		if source == s.addOns-1 {
			return edge, false
		}
		target = func() string { return nameOf(source + 1 + random.IntN(s.addOns-source-1)) }
	}
	edge = addonv1alpha1.AddonDependency{Name: fmt.Sprintf("edge-%d", number), Type: addonv1alpha1.DependencyTypeRequired}
	switch chance := random.IntN(12); {
	case chance < 5:
		edge.AddOn, edge.Version = target(), anyRange(random)
	case chance < 7:
		edge.Type, edge.AddOn, edge.Version = addonv1alpha1.DependencyTypeConflicts, target(), anyRange(random)
	case chance < 8:
		edge.Type, edge.AddOn, edge.Version = addonv1alpha1.DependencyTypeIfInstalled, target(), ranges[1+random.IntN(len(ranges)-1)]
	case chance < 9:
		edge.Type, edge.AddOn, edge.Version = addonv1alpha1.DependencyTypeOptional, target(), anyRange(random)
	case chance < 11 || s.ordered:
		for range 2 + random.IntN(2) {
			alternative := addonv1alpha1.DependencyAlternative{AddOn: target(), Version: anyRange(random)}
			if !s.ordered && random.IntN(5) == 0 {
				alternative = addonv1alpha1.DependencyAlternative{API: &addonv1alpha1.DependencyAPI{AddonAPI: api(random)}}
			}
			if !slices.ContainsFunc(edge.AnyOf, func(existing addonv1alpha1.DependencyAlternative) bool {
				return equality.Semantic.DeepEqual(alternative, existing)
			}) {
				edge.AnyOf = append(edge.AnyOf, alternative)
			}
		}
		if len(edge.AnyOf) < 2 {
			return edge, false
		}
		if !s.ordered && random.IntN(3) == 0 {
			edge.Type = addonv1alpha1.DependencyTypeOptional
		}
	default:
		edge.API = &addonv1alpha1.DependencyAPI{AddonAPI: api(random)}
	}
	if !s.ordered {
		edge.When = condition(random)
	}
	return edge, true
}

func anyRange(random *rand.Rand) string { return ranges[random.IntN(len(ranges))] }

func api(random *rand.Rand) addonv1alpha1.AddonAPI {
	return addonv1alpha1.AddonAPI{
		Group: "example.com", Version: []string{"", "v1", "v2"}[random.IntN(3)], Kind: kinds[random.IntN(len(kinds))],
	}
}

func condition(random *rand.Rand) *addonv1alpha1.DependencyWhen {
	switch random.IntN(8) {
	case 0:
		tier := []string{"edge", "core"}[random.IntN(2)]
		return &addonv1alpha1.DependencyWhen{ClusterSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"tier": tier}}}
	case 1:
		return &addonv1alpha1.DependencyWhen{Expression: "addOn.version.semverMatches('>= 2')"}
	default:
		return nil
	}
}

// wishes makes wishes for some of the add-ons.
func (s shape) wishes(random *rand.Rand) []resolution.Wish {
	var wishes []resolution.Wish
	for _, i := range random.Perm(s.addOns)[:1+random.IntN(3)] {
		wish := resolution.Wish{AddOn: nameOf(i), Version: anyRange(random), OnlyIfNeeded: len(wishes) > 0 && random.IntN(4) == 0}
		if random.IntN(4) == 0 && wish.Version != "" {
			wish.Prereleases = &addonv1alpha1.DependencyPrereleases{}
		}
		wishes = append(wishes, wish)
	}
	return wishes
}

// choice has the version of each add-on, by its name. An add-on without a version is not installed.
type choice map[string]string

// forEachChoice calls a function with each choice of the releases, until it returns false.
func forEachChoice(releases []resolution.Release, call func(choice) bool) {
	versions := map[string][]string{}
	var names []string
	for i := range releases {
		release := &releases[i]
		if versions[release.AddOn] == nil {
			names = append(names, release.AddOn)
		}
		versions[release.AddOn] = append(versions[release.AddOn], release.Version)
	}
	slices.Sort(names)
	chosen := choice{}
	var next func(i int) bool
	next = func(i int) bool {
		if i == len(names) {
			return call(chosen)
		}
		delete(chosen, names[i])
		if !next(i + 1) {
			return false
		}
		for _, version := range versions[names[i]] {
			chosen[names[i]] = version
			if !next(i + 1) {
				return false
			}
		}
		delete(chosen, names[i])
		return true
	}
	next(0)
}
