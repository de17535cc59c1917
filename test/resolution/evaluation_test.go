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

// world is the input in which choices are compared.
type world struct {
	releases []resolution.Release
	wishes   []resolution.Wish
	// allowed are the releases without the prereleases that no wish requests.
	allowed []resolution.Release
}

func newWorld(s shape, random *rand.Rand) world {
	w := world{releases: s.catalog(random), wishes: s.wishes(random)}
	w.allowed = slices.DeleteFunc(slices.Clone(w.releases), func(release resolution.Release) bool {
		return semver.MustParse(release.Version).Prerelease() != "" && !slices.ContainsFunc(w.wishes, func(wish resolution.Wish) bool {
			return wish.AddOn == release.AddOn && wish.Version != "" &&
				(wish.Version != "*" || wish.Prereleases != nil) && accepts(wish, release.Version)
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

// wrong returns a wish, or by the rules of evaluation an edge, that a choice does not satisfy.
func (w world) wrong(chosen choice) string {
	for _, wish := range w.wishes {
		version, ok := chosen[wish.AddOn]
		if !ok && !wish.OnlyIfNeeded || ok && !accepts(wish, version) {
			return "wish for " + wish.AddOn
		}
	}
	cluster := declarationtest.Cluster{Name: kind.Name, Kubernetes: kind.Kubernetes, Labels: kind.Labels, APIs: w.served(chosen)}
	var registrations []addonv1alpha1.ClusterManagementAddOn
	for i := range w.releases {
		if release := &w.releases[i]; chosen[release.AddOn] == release.Version {
			registrations = append(registrations, release.Registration)
			cluster.AddOns = append(cluster.AddOns, declarationtest.AddOn{Name: release.AddOn})
		}
	}
	hub := declarationtest.New(registrations)
	for _, addOn := range slices.Sorted(maps.Keys(chosen)) {
		findings, err := hub.Findings(addOn, cluster)
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

// absent reports whether an Optional edge is unsatisfied because none of its targets is installed. Such an edge does
// not install anything.
func absent(finding *evaluation.Finding, chosen choice) bool {
	if finding.Type() != addonv1alpha1.DependencyTypeOptional {
		return false
	}
	targets := []string{declaration.Target(finding.Dependency)}
	for _, alternative := range finding.Dependency.AnyOf {
		targets = append(targets, alternative.AddOn)
	}
	return !slices.ContainsFunc(targets, func(name string) bool { return chosen[name] != "" })
}

// served returns the APIs of the kind of clusters, those that chosen releases provide, and those that no release
// provides.
func (w world) served(chosen choice) []addonv1alpha1.AddonAPI {
	served := slices.Clone(kind.APIs)
	provided := func(api addonv1alpha1.AddonAPI, releases []resolution.Release, unchosen bool) bool {
		return slices.ContainsFunc(releases, func(release resolution.Release) bool {
			if !unchosen && chosen[release.AddOn] != release.Version {
				return false
			}
			return slices.ContainsFunc(release.Registration.Spec.Provides, func(p addonv1alpha1.AddonAPI) bool {
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

func chosenBy(result *resolution.Resolution) choice {
	versions := choice{}
	for _, chosen := range result.Choices {
		versions[chosen.AddOn] = chosen.Version
	}
	return versions
}

// Evaluation finds each resolution satisfied, and no choice gives a wish a higher version. Without a resolution,
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
			if total := rounds / parts; resolved < total/5 || resolved > total*4/5 {
				t.Errorf("%d of %d resolved: the catalogs are too much alike", resolved, total)
			}
		})
	}
}

// agreesWithEvaluation compares one catalog, and returns whether it was resolved.
func agreesWithEvaluation(t *testing.T, seed int) bool {
	t.Helper()
	random := fixture.Random(uint64(seed))
	w := newWorld(shape{addOns: 3 + random.IntN(2), releases: 3, edges: 3}, random)
	result, err := resolution.Resolve(w.releases, w.wishes, kind)
	if conflict := (*resolution.Conflict)(nil); err != nil && !errors.As(err, &conflict) {
		t.Fatalf("seed %d: %v", seed, err)
	}
	if err != nil {
		forEachChoice(w.allowed, func(chosen choice) bool {
			wrong := w.wrong(chosen)
			if wrong == "" {
				t.Errorf("seed %d: %v satisfies all, and is not found: %v", seed, chosen, err)
			}
			return wrong != ""
		})
		return false
	}
	if wrong := w.wrong(chosenBy(result)); wrong != "" {
		t.Errorf("seed %d: %v does not satisfy %s", seed, chosenBy(result), wrong)
	}
	w.expectHighest(t, seed, chosenBy(result))
	return true
}

// expectHighest compares the versions of wished add-ons, by their names, with all choices.
func (w world) expectHighest(t *testing.T, seed int, resolved choice) {
	t.Helper()
	var names []string
	for _, wish := range w.wishes {
		if !wish.OnlyIfNeeded {
			names = append(names, wish.AddOn)
		}
	}
	slices.Sort(names)
	forEachChoice(w.allowed, func(chosen choice) bool {
		order := slices.CompareFunc(names, names, func(a, _ string) int {
			if chosen[a] == "" {
				return -1
			}
			return semver.MustParse(chosen[a]).Compare(semver.MustParse(resolved[a]))
		})
		if order > 0 && w.wrong(chosen) == "" {
			t.Errorf("seed %d: %v has higher versions than %v", seed, chosen, resolved)
			return false
		}
		return true
	})
}

// The wishes of a conflict exclude each other. Without any one of them, the others do not.
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
		if slices.ContainsFunc(wishes, requestsPrereleases) { // without the wish, no wish requests them
			continue
		}
		if _, err := resolution.Resolve(releases, conflict.Wishes, kind); err == nil {
			t.Errorf("seed %d: %v do not exclude each other", seed, conflict.Wishes)
		}
		for i := range conflict.Wishes {
			rest := slices.Delete(slices.Clone(conflict.Wishes), i, i+1)
			if _, err := resolution.Resolve(releases, rest, kind); err != nil {
				t.Errorf("seed %d: %v exclude each other without %v", seed, rest, conflict.Wishes[i])
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

func requestsPrereleases(wish resolution.Wish) bool {
	return wish.Prereleases != nil || strings.Contains(wish.Version, "-")
}
