package resolution_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/resolution"
	"open-cluster-management.io/interlock/test/fixture"
)

// releasesOf reads lines such as "a 1.0.0 dependencies: [{name: b}]": an add-on, its version and its spec.
func releasesOf(t testing.TB, lines string) []resolution.Release {
	t.Helper()
	var releases []resolution.Release
	for line := range strings.Lines(lines) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		name, rest, _ := strings.Cut(line, " ")
		version, spec, _ := strings.Cut(rest, " ")
		if spec == "" {
			spec = "{}"
		}
		releases = append(releases, resolution.Release{
			AddOn: name, Version: version, Registration: fixture.Versioned(fixture.Specified(t, name, spec), version),
		})
	}
	return releases
}

// wishesOf reads a list such as "a >= 1, ?b": add-ons with their ranges. A question mark sets OnlyIfNeeded.
func wishesOf(text string) []resolution.Wish {
	var wishes []resolution.Wish
	for item := range strings.SplitSeq(text, ", ") {
		name, version, _ := strings.Cut(item, " ")
		wishes = append(wishes, resolution.Wish{
			AddOn: strings.TrimPrefix(name, "?"), Version: version, OnlyIfNeeded: strings.HasPrefix(name, "?"),
		})
	}
	return wishes
}

// outcome returns the chosen versions, or the error.
func outcome(releases []resolution.Release, wishes []resolution.Wish, kind resolution.Kind) string {
	result, err := resolution.Resolve(releases, wishes, kind)
	if err != nil {
		return err.Error()
	}
	var choices []string
	for _, choice := range result.Choices {
		choices = append(choices, choice.AddOn+" "+choice.Version)
	}
	return strings.Join(choices, ", ")
}

func TestResolve(t *testing.T) {
	kind := resolution.Kind{
		Kubernetes: "1.30.2", Labels: map[string]string{"tier": "edge"}, Claims: map[string]string{"region": "eu"},
		APIs: []addonv1alpha1.AddonAPI{{Group: "served.com", Version: "v1", Kind: "Served"}},
	}
	for name, test := range map[string]struct{ releases, wishes, want string }{
		"the highest version":      {"a 1.0.0\na 1.10.0\na 1.9.0", "a", "a 1.10.0"},
		"the highest in the range": {"a 1.0.0\na 1.10.0\na 1.9.0", "a < 1.10", "a 1.9.0"},
		"no prerelease":            {"a 1.0.0\na 2.0.0-rc.1", "a", "a 1.0.0"},
		"a prerelease by range":    {"a 1.0.0\na 2.0.0-rc.1", "a >= 1.0.0-0", "a 2.0.0-rc.1"},
		"no prerelease that only a dependent accepts": {
			"a 1.0.0 dependencies: [{name: b, version: '>= 1', prereleases: {}}]\nb 1.0.0\nb 2.0.0-rc.1", "a", "a 1.0.0, b 1.0.0",
		},
		"exactly one build": {"a 5.0.0+a\na 5.0.0+b", "a 5.0.0+a", "a 5.0.0+a"},
		"exactly one build that is not there": {
			"a 5.0.0+a\na 5.0.0+b", "a 5.0.0+gone",
			"this wish cannot be satisfied: a in version '5.0.0+gone' is wanted. The index has a 5.0.0+b, 5.0.0+a",
		},
		"a dependency on exactly one build": {
			"a 1.0.0 dependencies: [{name: b, version: 5.0.0+a}]\nb 5.0.0+a\nb 5.0.0+b", "a", "a 1.0.0, b 5.0.0+a",
		},
		"a dependency on exactly one build, and a bound": {
			"a 1.0.0 dependencies: [{name: b, version: '5.0.0+a, < 6'}]\nb 5.0.0+a\nb 5.0.0+b", "a", "a 1.0.0, b 5.0.0+a",
		},
		"a wish for a bounded build that is not there": {
			"a 5.0.0+a\na 5.0.0+b", "a 5.0.0+gone <6",
			"this wish cannot be satisfied: a in version '5.0.0+gone <6' is wanted. The index has a 5.0.0+b, 5.0.0+a",
		},
		"what is required comes too": {
			"a 1.0.0 dependencies: [{name: b}]\nb 1.0.0 dependencies: [{name: c}]\nc 1.0.0\nd 1.0.0",
			"a",
			"a 1.0.0, b 1.0.0, c 1.0.0",
		},
		"an Optional one does not": {"a 1.0.0 dependencies: [{name: b, type: Optional}]\nb 1.0.0", "a", "a 1.0.0"},
		"an Optional one limits": {
			"a 1.0.0 dependencies: [{name: b, type: Optional, version: '< 2'}]\nb 1.0.0\nb 2.0.0",
			"a, b",
			"a 1.0.0, b 1.0.0",
		},
		"one that is IfInstalled limits": {
			"a 1.0.0 dependencies: [{name: b, type: IfInstalled, version: '< 2'}]\nb 1.0.0\nb 2.0.0",
			"a, b",
			"a 1.0.0, b 1.0.0",
		},
		"a conflict with some versions": {
			"a 1.0.0 dependencies: [{name: b, type: Conflicts, version: '>= 2'}]\nb 1.0.0\nb 2.0.0",
			"a, b",
			"a 1.0.0, b 1.0.0",
		},
		"the first wish gets the highest": {
			"a 1.0.0\na 2.0.0\nb 1.0.0\nb 2.0.0 dependencies: [{name: a, version: '< 2'}]",
			"b, a",
			"a 2.0.0, b 1.0.0",
		},
		"a lower version, so that all fits": {
			"a 2.0.0 dependencies: [{name: c, version: '>= 2'}]\na 1.0.0 dependencies: [{name: c, version: '< 2'}]\nb 1.0.0 " +
				"dependencies: [{name: c, version: '< 2'}]\nc 1.0.0\nc 2.0.0",
			"a, b",
			"a 1.0.0, b 1.0.0, c 1.0.0",
		},
		"the first alternative": {
			"a 1.0.0 dependencies: [{name: x, anyOf: [{addOn: c}, {addOn: b}]}]\nb 1.0.0\nc 1.0.0",
			"a",
			"a 1.0.0, c 1.0.0",
		},
		"the alternative that is there": {
			"a 1.0.0 dependencies: [{name: x, anyOf: [{addOn: c}, {addOn: b}]}]\nb 1.0.0\nc 1.0.0",
			"a, b",
			"a 1.0.0, b 1.0.0",
		},
		"an alternative that waits is none": {
			"a 1.0.0 dependencies: [{name: x, anyOf: [{addOn: b}, {addOn: c}]}]\nb 1.0.0 dependencies: [{name: a}]\nc 1.0.0",
			"a",
			"a 1.0.0, c 1.0.0",
		},
		"a version on a cycle is passed over": {
			"a 1.0.0 dependencies: [{name: b}]\nb 2.0.0 dependencies: [{name: a}]\nb 1.0.0",
			"a",
			"a 1.0.0, b 1.0.0",
		},
		"Kubernetes that is too old": {
			"a 2.0.0 requirements: {kubernetes: '>= 1.31'}\na 1.0.0 requirements: {kubernetes: '>= 1.28'}",
			"a",
			"a 1.0.0",
		},
		"a claim with another value": {
			"a 2.0.0 requirements: {claims: {region: us}}\na 1.0.0 requirements: {claims: {region: eu}}",
			"a",
			"a 1.0.0",
		},
		"a condition that does not hold": {
			"a 1.0.0 dependencies: [{name: b, when: {clusterSelector: {matchLabels: {tier: core}}}}]\nb 1.0.0",
			"a",
			"a 1.0.0",
		},
		"a condition that holds": {
			"a 1.0.0 dependencies: [{name: b, when: {clusterSelector: {matchLabels: {tier: edge}}}}]\nb 1.0.0",
			"a",
			"a 1.0.0, b 1.0.0",
		},
		"an API that the clusters serve": {
			"a 1.0.0 dependencies: [{name: x, api: {group: served.com, kind: Served}}]\nb 1.0.0 provides: [{group: served.com, kind: Served}]",
			"a",
			"a 1.0.0",
		},
		"an API that an add-on provides": {
			"a 1.0.0 dependencies: [{name: x, api: {group: x.com, version: v1, kind: X}}]\nb 1.0.0 provides: [{group: x.com, " +
				"version: v1, kind: X}]\nb 2.0.0 provides: [{group: x.com, version: v2, kind: X}]",
			"a",
			"a 1.0.0, b 1.0.0",
		},
		"a wish only if it is needed": {"a 1.0.0\nb 1.0.0\nb 2.0.0", "a, ?b < 2", "a 1.0.0"},
		"a wish that is needed":       {"a 1.0.0 dependencies: [{name: b}]\nb 1.0.0\nb 2.0.0", "a, ?b < 2", "a 1.0.0, b 1.0.0"},

		"two that exclude each other": {
			"a 1.0.0 dependencies: [{name: c, version: '>= 2'}]\nb 1.0.0 dependencies: [{name: c, version: '< 2'}]\nc 1.0.0\nc 2.0.0\nd 1.0.0",
			"a, b, d",
			"these wishes exclude each other: a is wanted; b is wanted; a 1.0.0 requires c in version '>= 2'; b 1.0.0 requires c " +
				"in version '< 2'. " +
				"The index has a 1.0.0; b 1.0.0; c 2.0.0, 1.0.0",
		},
		"two that declare a conflict": {
			"a 1.0.0 dependencies: [{name: b, type: Conflicts}]\nb 1.0.0", "a, b",
			"these wishes exclude each other: a is wanted; b is wanted; a 1.0.0 conflicts with b. The index has a 1.0.0; b 1.0.0",
		},
		"a requirement": {
			"a 1.0.0 requirements: {kubernetes: '>= 1.31'}", "a",
			"this wish cannot be satisfied: a is wanted; a 1.0.0 requires Kubernetes version '>= 1.31', " +
				"and the clusters have 1.30.2. The index has a 1.0.0",
		},
		"a cycle": {
			"a 1.0.0 dependencies: [{name: b}]\nb 1.0.0 dependencies: [{name: a}]", "a",
			"this wish cannot be satisfied: a is wanted; a 1.0.0 requires b; b 1.0.0 requires a; " +
				"that is a dependency cycle: a → b → a. The index has a 1.0.0; b 1.0.0",
		},
		"a cycle of one": {
			"a 1.0.0 dependencies: [{name: a}]", "a",
			"this wish cannot be satisfied: a is wanted; a 1.0.0 requires a; that is a dependency cycle: a → a. The index has a 1.0.0",
		},
		"a cycle with alternatives": {
			"a 1.0.0 dependencies: [{name: x, anyOf: [{addOn: b}, {addOn: c}]}]\nb 1.0.0 dependencies: [{name: a}]", "a",
			"this wish cannot be satisfied: a is wanted; a 1.0.0 requires b or c; b 1.0.0 requires a; " +
				"that is a dependency cycle: a → b → a. The index has a 1.0.0; b 1.0.0; no c",
		},
		"an add-on that is missing": {"b 1.0.0", "a", "this wish cannot be satisfied: a is wanted. The index has no a"},
		"a dependency that is missing": {
			"a 1.0.0 dependencies: [{name: b}]", "a",
			"this wish cannot be satisfied: a is wanted; a 1.0.0 requires b. The index has a 1.0.0; no b",
		},
		"only a prerelease": {
			"a 1.0.0-rc.1", "a",
			"this wish cannot be satisfied: a is wanted. The index has a 1.0.0-rc.1 (a prerelease: a wish has to ask for it, with prereleases: {})",
		},
		"a range that is none":       {"a 1.0.0", "a latest", `add-on "a": version "latest": must be a range of semantic versions…`},
		"a version that is none":     {"a latest", "a", `add-on "a": version "latest" is no semantic version`},
		"a version that is twice":    {"a 1.0.0\na 1.0.0", "a", `add-on "a" has version "1.0.0" twice`},
		"a version in two spellings": {"a v1.0.0+x\na 1.0.0+y\na 1.0.0+x", "a", `add-on "a" has version "1.0.0+x" twice`},
		"an invalid declaration": {
			"a 1.0.0 dependencies: [{name: b, version: x y}]",
			"a",
			"this wish cannot be satisfied: a is wanted; a 1.0.0 has a declaration that cannot be used: …",
		},
		"a declaration for others": {
			"a 1.0.0 requirements: {interlock: '>= 99'}",
			"a",
			"this wish cannot be satisfied: a is wanted; a 1.0.0 has a declaration that cannot be used: …",
		},
	} {
		t.Run(name, func(t *testing.T) {
			releases, wishes := releasesOf(t, test.releases), wishesOf(test.wishes)
			got := outcome(releases, wishes, kind)
			if begin, cut := strings.CutSuffix(test.want, "…"); got != test.want && (!cut || !strings.HasPrefix(got, begin)) {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			slices.Reverse(releases)
			slices.Reverse(wishes)
			if reversed := outcome(releases, wishes, kind); reversed != got {
				t.Errorf("in another order: %s", reversed)
			}
		})
	}
}

// The cases of Carvel's proposal for dependency resolution, in its words.
func TestCarvelResolution(t *testing.T) {
	const packages = `pkg 1.0.0 dependencies: [{name: pkg1, version: ~1.0.0}, {name: pkg3, version: 0.1.0}]
pkg1 1.0.0 dependencies: [{name: pkg2}]
pkg1 1.0.1 dependencies: [{name: pkg2}]
pkg1 4.0.0
pkg2 1.0.0
pkg3 0.1.0`
	for name, test := range map[string]struct{ releases, wishes, want string }{
		"a dependency of a dependency is installed too": {packages, "pkg", "pkg 1.0.0, pkg1 1.0.1, pkg2 1.0.0, pkg3 0.1.0"},
		"two packages depend on the same package": {
			packages + "\nother 1.0.0 dependencies: [{name: pkg1, version: < 1.0.1}]",
			"pkg, other",
			"other 1.0.0, pkg 1.0.0, pkg1 1.0.0, pkg2 1.0.0, pkg3 0.1.0",
		},
		"override the version of a dependency": {
			packages,
			"pkg, ?pkg1 1.0.0",
			"pkg 1.0.0, pkg1 1.0.0, pkg2 1.0.0, pkg3 0.1.0",
		},
		"two dependencies on one package in versions (aliases)": {
			"pkg 1.0.0 dependencies: [{name: v1, addOn: pkg5, version: 0.1.0}, {name: v2, addOn: pkg5, version: 0.2.0}]\npkg5 0.1.0\npkg5 0.2.0",
			"pkg",
			"this wish cannot be satisfied: pkg is wanted; pkg 1.0.0 requires pkg5 in version '0.1.0'; pkg 1.0.0 requires pkg5 " +
				"in version '0.2.0'. The index has pkg 1.0.0; pkg5 0.2.0, 0.1.0",
		},
		"UnknownPackage": {
			"pkg 1.0.0 dependencies: [{name: pkg1}]",
			"pkg",
			"this wish cannot be satisfied: pkg is wanted; pkg 1.0.0 requires pkg1. The index has pkg 1.0.0; no pkg1",
		},
		"UnknownPackageVersion": {
			"pkg 1.0.0 dependencies: [{name: pkg1, version: '>4.0.0'}]\npkg1 4.0.0",
			"pkg",
			"this wish cannot be satisfied: pkg is wanted; pkg 1.0.0 requires pkg1 in version '>4.0.0'. The index has pkg 1.0.0; pkg1 4.0.0",
		},
		"FoundPackageInstallRequiresDifferent": {
			"pkg 1.0.0 dependencies: [{name: pkg1, version: 1.0.1}]\npkg1 0.1.1\npkg1 1.0.1",
			"pkg, pkg1 0.1.1",
			"these wishes exclude each other: pkg is wanted; pkg1 in version '0.1.1' is wanted; pkg 1.0.0 requires pkg1 in " +
				"version '1.0.1'. The index has pkg 1.0.0; pkg1 1.0.1, 0.1.1",
		},
		"automatic search for a package by its GVK": {
			"some 1.0.0 dependencies: [{name: api, api: {group: api.carvel.dev, version: v1, kind: Resource}}]\nprovider 1.0.0 " +
				"provides: [{group: api.carvel.dev, version: v1, kind: Resource}]",
			"some",
			"provider 1.0.0, some 1.0.0",
		},
		"ExistingGVK": {
			"some 1.0.0 dependencies: [{name: api, api: {group: api.carvel.dev, version: v1, kind: Main}}]", "some", "some 1.0.0",
		},
		"FoundPackageInstall": {packages, "pkg, pkg1 1.0.0", "pkg 1.0.0, pkg1 1.0.0, pkg2 1.0.0, pkg3 0.1.0"},
		"UnknownPackage of an optional dependency": {
			"pkg 1.0.0 dependencies: [{name: pkg6, type: Optional, version: 0.6.0}]", "pkg", "pkg 1.0.0",
		},
		"UnknownPackageVersion of an optional dependency": {
			"pkg 1.0.0 dependencies: [{name: pkg6, type: Optional, version: 0.6.0}]\npkg6 0.5.0", "pkg", "pkg 1.0.0",
		},
		"prereleases that no wish asks for": {"pkg 1.0.0\npkg 1.1.0-rc.1", "pkg >= 1.0", "pkg 1.0.0"},
		"prereleases by a constraint":       {"pkg 1.0.0\npkg 1.1.0-rc.1", "pkg >= 1.0-0", "pkg 1.1.0-rc.1"},
		"a dependency that is a prerelease only": {
			"pkg 1.0.0 dependencies: [{name: pkg1}]\npkg1 1.0.0-rc.1", "pkg",
			"this wish cannot be satisfied: pkg is wanted; pkg 1.0.0 requires pkg1. The index has pkg 1.0.0; " +
				"pkg1 1.0.0-rc.1 (a prerelease: a wish has to ask for it, with prereleases: {})",
		},
		"a constraint that excludes a version": {packages, "pkg, ?pkg1 != 1.0.1", "pkg 1.0.0, pkg1 1.0.0, pkg2 1.0.0, pkg3 0.1.0"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := outcome(releasesOf(t, test.releases), wishesOf(test.wishes), resolution.Kind{}); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// Prereleases can be limited to some identifiers, as in Carvel's versionSelection.
func TestPrereleasesByIdentifier(t *testing.T) {
	releases := releasesOf(t, "pkg 1.0.0\npkg 1.1.0-alpha.1\npkg 1.1.0-beta.2\npkg 1.1.0-rc.1")
	for name, test := range map[string]struct {
		prereleases *addonv1alpha1.DependencyPrereleases
		want        string
	}{
		"none":            {nil, "pkg 1.0.0"},
		"all":             {&addonv1alpha1.DependencyPrereleases{}, "pkg 1.1.0-rc.1"},
		"alpha and beta":  {&addonv1alpha1.DependencyPrereleases{Identifiers: []string{"alpha", "beta"}}, "pkg 1.1.0-beta.2"},
		"one that is not": {&addonv1alpha1.DependencyPrereleases{Identifiers: []string{"nightly"}}, "pkg 1.0.0"},
	} {
		for _, version := range []string{">= 1.0", "", "*"} {
			wishes := []resolution.Wish{{AddOn: "pkg", Version: version, Prereleases: test.prereleases}}
			if got := outcome(releases, wishes, resolution.Kind{}); got != test.want {
				t.Errorf("%s in %q: got %s, want %s", name, version, got, test.want)
			}
		}
	}
}

// The cases of Helm's documentation of chart dependencies, in its words. Package chart tests the dependencies of charts
// themselves, and package cli tests local charts and updates.
func TestHelmResolution(t *testing.T) {
	for name, test := range map[string]struct{ releases, wishes, want string }{
		"a version range": {"a 1.0.0 dependencies: [{name: b, version: ^1.2.0}]\nb 1.1.0\nb 1.3.0\nb 2.0.0", "a", "a 1.0.0, b 1.3.0"},
		"improper constraint": {
			"a 1.0.0 dependencies: [{name: b, version: latest}]\nb 1.0.0", "a",
			"this wish cannot be satisfied: a is wanted; a 1.0.0 has a declaration that cannot be used: …",
		},
		"no version, which Helm finds improper": {"a 1.0.0 dependencies: [{name: b}]\nb 1.0.0", "a", "a 1.0.0, b 1.0.0"},
		"can't get a valid version for dependency b": {
			"a 1.0.0 dependencies: [{name: b, version: 2.0.0}]\nb 1.0.0", "a",
			"this wish cannot be satisfied: a is wanted; a 1.0.0 requires b in version '2.0.0'. The index has a 1.0.0; b 1.0.0",
		},
		"found in Chart.yaml, but missing in charts/ directory": {
			"a 1.0.0 dependencies: [{name: b, version: 1.0.0}]", "a",
			"this wish cannot be satisfied: a is wanted; a 1.0.0 requires b in version '1.0.0'. The index has a 1.0.0; no b",
		},
		"an alias": {
			"a 1.0.0 dependencies: [{name: one, addOn: b, version: '>= 1'}, {name: two, addOn: b, version: < 3}]\nb 1.0.0\nb 2.0.0\nb 3.0.0",
			"a", "a 1.0.0, b 2.0.0",
		},
		"a condition that is not met": {
			"a 1.0.0 dependencies: [{name: b, when: {clusterSelector: {matchLabels: {b: enabled}}}}]\nb 1.0.0", "a", "a 1.0.0",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := outcome(releasesOf(t, test.releases), wishesOf(test.wishes), resolution.Kind{})
			if begin, cut := strings.CutSuffix(test.want, "…"); got != test.want && (!cut || !strings.HasPrefix(got, begin)) {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// A choice has its reasons, the add-ons to install before it, and the reasons against higher versions.
func TestChoicesAreExplained(t *testing.T) {
	result, err := resolution.Resolve(releasesOf(t, "a 1.0.0 dependencies: "+
		"[{name: b, version: < 4}, {name: api, api: {group: x.com, kind: X}}, {name: o, type: Optional}]"+`
b 4.0.0
b 3.0.0-rc.1
b 3.0.0 requirements: {kubernetes: '>= 1.31'}
b 2.0.0 dependencies: [{name: c, type: Conflicts}]
b 1.0.0
c 1.0.0`), wishesOf("a, c"), resolution.Kind{Kubernetes: "1.30.0"})
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprintf("%q", result.Choices)
	want := `[{"a" "1.0.0" ["wanted"] [] ["b"]} ` +
		`{"b" "1.0.0" ["a 1.0.0 requires b in version '< 4'"] [{"4.0.0" "a 1.0.0 requires b in version '< 4'"} ` +
		`{"3.0.0" "it requires Kubernetes version '>= 1.31', and the clusters have 1.30.0"} {"3.0.0-rc.1" "it is a prerelease, and nothing ` +
		`asks for it"}] []} ` +
		`{"c" "1.0.0" ["wanted"] [] []}]`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if want := []string{"a 1.0.0, dependency api: X.x.com is served"}; !slices.Equal(result.Assumptions, want) {
		t.Errorf("assumed: %q", result.Assumptions)
	}
}

func FuzzResolve(f *testing.F) {
	f.Add("1.0.0", ">= 1", "Required", "1.30.0")
	f.Add("v1", "*", "Conflicts", "x")
	f.Add("1.0.0-rc.1", "^1.0.0-0", "IfInstalled", "")
	f.Fuzz(func(t *testing.T, version, accepted, edgeType, kubernetes string) {
		edge := fixture.Required("b")
		edge.Type, edge.Version = addonv1alpha1.DependencyType(edgeType), accepted
		a, b := fixture.Registration("a", edge), fixture.Registration("b")
		b.Spec.Requirements = &addonv1alpha1.AddonRequirements{Kubernetes: accepted}
		releases := []resolution.Release{{AddOn: "a", Version: version, Registration: a}, {AddOn: "b", Version: version, Registration: b}}
		result, err := resolution.Resolve(releases, []resolution.Wish{{AddOn: "a", Version: accepted}}, resolution.Kind{Kubernetes: kubernetes})
		if conflict := (*resolution.Conflict)(nil); errors.As(err, &conflict) && len(conflict.Wishes) == 0 {
			t.Errorf("a conflict of no wish: %v", err)
		}
		if err == nil && len(result.Choices) == 0 {
			t.Error("nothing is chosen, and nothing is wrong")
		}
	})
}
