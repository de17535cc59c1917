package resolution

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/author/declarationtest"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/versions"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/resolution"
	"open-cluster-management.io/interlock/test/fixture"
)

// world is what choices are compared in.
type world struct {
	releases []resolution.Release
	wishes   []resolution.Wish
	// allowed are the releases without prereleases that no wish asks for.
	allowed []resolution.Release
}

func newWorld(s shape, random *rand.Rand) world {
	w := world{releases: s.catalog(random), wishes: s.wishes(random)}
	w.allowed = slices.DeleteFunc(slices.Clone(w.releases), func(one resolution.Release) bool {
		return semver.MustParse(one.Version).Prerelease() != "" && !slices.ContainsFunc(w.wishes, func(wish resolution.Wish) bool {
			return wish.AddOn == one.AddOn && wish.Version != "" && (wish.Version != "*" || wish.Prereleases != nil) && accepts(wish, one.Version)
		})
	})
	return w
}

func accepts(wish resolution.Wish, version string) bool {
	if wish.Version == "" {
		return true
	}
	accepted, err := versions.ParseRange(wish.Version, wish.Prereleases)
	return err == nil && accepted.Mismatch(semver.MustParse(version)) == ""
}

// wrong returns what a choice does not satisfy: a wish, or by the rules of evaluation an edge.
func (w world) wrong(chosen choice) string {
	for _, wish := range w.wishes {
		version, is := chosen[wish.AddOn]
		if !is && !wish.OnlyIfNeeded || is && !accepts(wish, version) {
			return "wish for " + wish.AddOn
		}
	}
	on := declarationtest.Cluster{Name: kind.Name, Kubernetes: kind.Kubernetes, Labels: kind.Labels, APIs: w.served(chosen)}
	var registrations []addonv1alpha1.ClusterManagementAddOn
	for i := range w.releases {
		if one := &w.releases[i]; chosen[one.AddOn] == one.Version {
			registrations = append(registrations, one.Registration)
			on.AddOns = append(on.AddOns, declarationtest.AddOn{Name: one.AddOn})
		}
	}
	hub := declarationtest.New(registrations)
	for _, addOn := range slices.Sorted(maps.Keys(chosen)) {
		findings, err := hub.Findings(addOn, on)
		if err != nil {
			return err.Error()
		}
		for i := range findings {
			if finding := &findings[i]; finding.Unsatisfied() && !absent(finding, chosen) {
				return fmt.Sprintf("%s: %s: %s", addOn, finding.Name(), finding.Verdict)
			}
		}
	}
	return ""
}

// absent reports whether an Optional edge is unsatisfied because nothing of it is installed: it pulls nothing in.
func absent(finding *evaluation.Finding, chosen choice) bool {
	if finding.Type() != addonv1alpha1.DependencyTypeOptional {
		return false
	}
	targets := []string{declaration.Target(finding.Dependency)}
	for _, one := range finding.Dependency.AnyOf {
		targets = append(targets, one.AddOn)
	}
	return !slices.ContainsFunc(targets, func(name string) bool { return chosen[name] != "" })
}

// served are the APIs of the kind of clusters, those that chosen releases provide, and those that none does.
func (w world) served(chosen choice) []addonv1alpha1.AddonAPI {
	served := slices.Clone(kind.APIs)
	provided := func(api addonv1alpha1.AddonAPI, releases []resolution.Release, all bool) bool {
		return slices.ContainsFunc(releases, func(one resolution.Release) bool {
			if !all && chosen[one.AddOn] != one.Version {
				return false
			}
			return slices.ContainsFunc(one.Registration.Spec.Provides, func(p addonv1alpha1.AddonAPI) bool {
				return p.Kind == api.Kind && (p.Version == "" || api.Version == "" || p.Version == api.Version)
			})
		})
	}
	for _, name := range kinds {
		nowhere := !provided(addonv1alpha1.AddonAPI{Group: "example.com", Kind: name}, w.allowed, true)
		for _, version := range []string{"v1", "v2"} {
			api := addonv1alpha1.AddonAPI{Group: "example.com", Version: version, Kind: name}
			if nowhere || provided(api, w.allowed, false) {
				served = append(served, api)
			}
		}
	}
	return served
}

func chosenBy(found *resolution.Resolution) choice {
	chosen := choice{}
	for _, one := range found.Choices {
		chosen[one.AddOn] = one.Version
	}
	return chosen
}

// What is resolved, evaluation finds satisfied, and no choice gives a wish a higher version. Where nothing is resolved,
// evaluation finds no choice satisfied.
func TestResolutionAgreesWithEvaluation(t *testing.T) {
	rounds := 4000
	if testing.Short() {
		rounds = 150
	}
	const parts = 4
	for part := range parts {
		t.Run(fmt.Sprint(part), func(t *testing.T) {
			t.Parallel()
			resolved := 0
			for seed := part; seed < rounds; seed += parts {
				if agreesWithEvaluation(t, seed) {
					resolved++
				}
			}
			if all := rounds / parts; resolved < all/5 || resolved > all*4/5 {
				t.Errorf("%d of %d resolved: the catalogs are too much alike", resolved, all)
			}
		})
	}
}

// agreesWithEvaluation compares one catalog, and returns whether it was resolved.
func agreesWithEvaluation(t *testing.T, seed int) bool {
	t.Helper()
	random := fixture.Random(uint64(seed))
	w := newWorld(shape{addOns: 3 + random.IntN(2), releases: 3, edges: 3}, random)
	found, err := resolution.Resolve(w.releases, w.wishes, kind)
	if conflict := (*resolution.Conflict)(nil); err != nil && !errors.As(err, &conflict) {
		t.Fatalf("seed %d: %v", seed, err)
	}
	if err != nil {
		every(w.allowed, func(chosen choice) bool {
			wrong := w.wrong(chosen)
			if wrong == "" {
				t.Errorf("seed %d: %v satisfies all, and is not found: %v", seed, chosen, err)
			}
			return wrong != ""
		})
		return false
	}
	if wrong := w.wrong(chosenBy(found)); wrong != "" {
		t.Errorf("seed %d: %v does not satisfy %s", seed, chosenBy(found), wrong)
	}
	w.expectHighest(t, seed, chosenBy(found))
	return true
}

// expectHighest compares the versions of wished add-ons, by their names, with all choices.
func (w world) expectHighest(t *testing.T, seed int, found choice) {
	t.Helper()
	var wished []string
	for _, one := range w.wishes {
		if !one.OnlyIfNeeded {
			wished = append(wished, one.AddOn)
		}
	}
	slices.Sort(wished)
	every(w.allowed, func(chosen choice) bool {
		order := slices.CompareFunc(wished, wished, func(a, _ string) int {
			if chosen[a] == "" {
				return -1
			}
			return semver.MustParse(chosen[a]).Compare(semver.MustParse(found[a]))
		})
		if order > 0 && w.wrong(chosen) == "" {
			t.Errorf("seed %d: %v has higher versions than %v", seed, chosen, found)
			return false
		}
		return true
	})
}

// Wishes of a conflict exclude each other, and without any of them the others do not.
func TestConflictsHaveNoWishTooMany(t *testing.T) {
	several := 0
	for seed := range 1500 {
		random := fixture.Random(uint64(seed))
		s := shape{addOns: 4, releases: 3, edges: 3}
		releases, wishes := s.catalog(random), s.wishes(random)
		_, err := resolution.Resolve(releases, wishes, kind)
		conflict := (*resolution.Conflict)(nil)
		if !errors.As(err, &conflict) {
			continue
		}
		if !strings.HasPrefix(err.Error(), "on clusters of kind edge, ") || len(conflict.Wishes) == 0 {
			t.Errorf("seed %d: %v", seed, err)
		}
		if slices.ContainsFunc(wishes, asksForPrereleases) { // without the wish, nothing asks for them
			continue
		}
		if _, err := resolution.Resolve(releases, conflict.Wishes, kind); err == nil {
			t.Errorf("seed %d: %v do not exclude each other", seed, conflict.Wishes)
		}
		for i := range conflict.Wishes {
			others := slices.Delete(slices.Clone(conflict.Wishes), i, i+1)
			if _, err := resolution.Resolve(releases, others, kind); err != nil {
				t.Errorf("seed %d: %v exclude each other without %v", seed, others, conflict.Wishes[i])
			}
		}
		if len(conflict.Wishes) > 1 {
			several++
		}
	}
	if several < 10 {
		t.Errorf("%d conflicts of several wishes", several)
	}
}

func asksForPrereleases(wish resolution.Wish) bool {
	return wish.Prereleases != nil || strings.Contains(wish.Version, "-")
}
