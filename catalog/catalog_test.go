// Package catalog tests the index of this folder.
package catalog

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/author/declarationtest"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/resolution"
	"open-cluster-management.io/interlock/pkg/offline/index"
	"open-cluster-management.io/interlock/pkg/offline/manifest"
)

func read(t *testing.T) []index.Entry {
	t.Helper()
	entries, err := index.Read(".")
	if err != nil || len(entries) < 10 {
		t.Fatalf("%d releases: %v", len(entries), err)
	}
	return entries
}

// Reading an index compares digests. Lint has the rules of admission, and of the schema of the CRD.
func TestLintFindsNothing(t *testing.T) {
	entries := read(t)
	for _, one := range entries {
		others := map[string]addonv1alpha1.ClusterManagementAddOn{}
		for i := range entries {
			if entries[i].Name != one.Name {
				others[entries[i].Name] = entries[i].Input.Registration
			}
		}
		for _, object := range one.Manifests {
			raw, err := json.Marshal(object)
			if err != nil {
				t.Fatal(err)
			}
			files, err := manifest.Read([]string{"-"}, strings.NewReader(string(raw)))
			if err != nil {
				t.Fatal(err)
			}
			for _, found := range files.Lint(slices.Collect(maps.Values(others)), true).Items {
				t.Errorf("%s %s: %s", one.Name, one.Version, found.Message)
			}
		}
	}
}

var (
	row       = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| ([^| ]+) \\| ([^|]+) \\| ([^|]*) \\| ([^|]+) \\|$")
	permanent = regexp.MustCompile(`\]\(https://github\.com/[^/)]+/[^/)]+/blob/[0-9a-f]{40}/[^)]+\)`)
)

// declares are what the rows of the page name of a release.
func declares(of *resolution.Release) (all []string) {
	declared := declaration.Read(&of.Registration)
	for i := range declared.Edges {
		all = append(all, "`"+declared.Edges[i].Dependency.Name+"`")
	}
	for i := range declared.Platform {
		all = append(all, "`"+declared.Platform[i].Name+"`")
	}
	for _, api := range declared.Provides {
		all = append(all, "provides `"+api.Kind+"`")
	}
	if all == nil {
		return []string{"nothing"}
	}
	return all
}

func TestEveryDeclarationHasAPermanentLink(t *testing.T) {
	content, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]int{}
	for _, cells := range row.FindAllStringSubmatch(string(content), -1) {
		what := strings.Join(cells[1:4], " ")
		shown[what]++
		if links := strings.Count(cells[5], "]("); links == 0 || links != len(permanent.FindAllString(cells[5], -1)) {
			t.Errorf("%s: a link has no commit", what)
		}
		if cells[4] == "" && !strings.HasPrefix(cells[3], "provides ") && cells[3] != "nothing" {
			t.Errorf("%s: the row does not say what does not work without it", what)
		}
	}
	for _, one := range read(t) {
		for _, declared := range declares(&one.Input) {
			what := fmt.Sprintf("%s %s %s", one.Name, one.Version, declared)
			if shown[what] != 1 {
				t.Errorf("%s: it has %d rows", what, shown[what])
			}
			delete(shown, what)
		}
		if !regexp.MustCompile(`^https://github\.com/[^/]+/[^/]+/tree/[0-9a-f]{40}$`).MatchString(one.Source) {
			t.Errorf("%s %s: source: %q is not a commit", one.Name, one.Version, one.Source)
		}
	}
	for what := range shown {
		t.Errorf("%s: no release declares it", what)
	}
}

func api(group, version, kind string) addonv1alpha1.AddonAPI {
	return addonv1alpha1.AddonAPI{Group: group, Version: version, Kind: kind}
}

// assumed are the APIs that the lock assumes.
var (
	assumed      = []addonv1alpha1.AddonAPI{api("kueue.x-k8s.io", "v1beta1", "ClusterQueue")}
	assumedOfHub = []addonv1alpha1.AddonAPI{
		api("argoproj.io", "v1alpha1", "Application"), api("kueue.x-k8s.io", "v1beta1", "AdmissionCheck"),
		api("policy.open-cluster-management.io", "v1", "Policy"), api("rbac.open-cluster-management.io", "v1alpha1", "ClusterPermission"),
	}
)

func TestLockIsCurrentAndEvaluationAcceptsIt(t *testing.T) {
	entries := read(t)
	wishes, _, err := index.ReadWishes("addons.yaml")
	if err != nil {
		t.Fatal(err)
	}
	lock, err := index.Resolve(entries, wishes)
	if err != nil {
		t.Fatal(err)
	}
	want, err := lock.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	if have, err := os.ReadFile("addons.lock"); err != nil || string(have) != string(want) {
		t.Errorf("addons.lock is not what kubectl addon resolve writes: %v", err)
	}
	wanted := map[string]bool{}
	for i := range lock.ClusterKinds {
		for name := range expectSatisfied(t, entries, &lock.ClusterKinds[i]) {
			wanted[name] = true
		}
	}
	for _, one := range entries {
		if !wanted[one.Name] {
			t.Errorf("addons.yaml wants no %s", one.Name)
		}
	}
}

// expectSatisfied evaluates the add-ons of a kind of clusters, and returns their names.
func expectSatisfied(t *testing.T, entries []index.Entry, kind *index.LockedKind) map[string]bool {
	t.Helper()
	on := declarationtest.Cluster{
		Name: kind.Name, Kubernetes: kind.Kubernetes, OCM: kind.OCM, Labels: kind.Labels, Claims: kind.Claims,
		APIs: slices.Concat(kind.APIs, assumed), Hub: declarationtest.ServedAPIs{APIs: assumedOfHub},
	}
	names := map[string]bool{}
	var registrations []addonv1alpha1.ClusterManagementAddOn
	for i := range kind.AddOns {
		locked := &kind.AddOns[i]
		at := slices.IndexFunc(entries, func(one index.Entry) bool { return one.Name == locked.Name && one.Version == locked.Version })
		registration := &entries[at].Input.Registration
		registrations = append(registrations, *registration)
		on.APIs = append(on.APIs, declaration.Read(registration).Provides...)
		on.AddOns = append(on.AddOns, declarationtest.AddOn{Name: locked.Name})
		names[locked.Name] = true
	}
	hub := declarationtest.New(registrations)
	for name := range names {
		findings, err := hub.Findings(name, on)
		if err != nil {
			t.Errorf("%s: %s: %v", kind.Name, name, err)
		}
		for i := range findings {
			if findings[i].Unsatisfied() {
				t.Errorf("%s: %s: %s: %s", kind.Name, name, findings[i].Name(), findings[i].Verdict)
			}
		}
	}
	return names
}

// Two versions of an add-on are in the index because they are chosen in different places.
func TestVersionsThatDiffer(t *testing.T) {
	entries := read(t)
	for name, c := range map[string]struct {
		ocm    string
		wishes []resolution.Wish
		want   string
	}{
		"a hub without v1beta1 of its API": {
			"1.1.3", wishes("cluster-proxy", "", "config-policy-controller", ""),
			"cluster-proxy 0.10.0 config-policy-controller 0.12.0",
		},
		"a hub with it": {
			"1.2.0", wishes("cluster-proxy", "", "config-policy-controller", ""),
			"cluster-proxy 0.11.0 config-policy-controller 0.19.0",
		},
		"tokens of v1beta1": {
			"1.3.1", wishes("multicluster-kueue-manager", ""),
			"managed-serviceaccount 0.10.0 multicluster-kueue-manager 0.1.4",
		},
		"tokens of v1alpha1": {
			"1.3.1", wishes("managed-serviceaccount", "< 0.4", "multicluster-kueue-manager", ""),
			"these wishes exclude each other: managed-serviceaccount in version '< 0.4' is wanted; multicluster-kueue-manager is wanted; " +
				"multicluster-kueue-manager 0.1.4 requires managed-serviceaccount in version '>= 0.4.0'. " +
				"The index has managed-serviceaccount 0.10.0, 0.3.0; multicluster-kueue-manager 0.1.4",
		},
		"templating with a controller that does not know it": {
			"1.3.1", wishes("config-policy-controller", "< 0.16", "governance-standalone-hub-templating", ""),
			"these wishes exclude each other: config-policy-controller in version '< 0.16' is wanted; " +
				"governance-standalone-hub-templating is wanted; " +
				"governance-standalone-hub-templating 0.19.0 requires config-policy-controller in version '>= 0.16.0'. " +
				"The index has config-policy-controller 0.19.0, 0.12.0; governance-standalone-hub-templating 0.19.0",
		},
		"a chart instead of an operator": {"1.3.1", wishes("volsync", ""), "volsync 2.13.0"},
		"the operator": {
			"1.3.1", wishes("volsync", "< 2.13"), "volsync 2.12.0 assumed: volsync 2.12.0, " +
				"dependency operator-lifecycle-manager: Subscription.operators.coreos.com/v1alpha1 is served",
		},
	} {
		var releases []resolution.Release
		for i := range entries {
			releases = append(releases, entries[i].Input)
		}
		found, err := resolution.Resolve(releases, c.wishes, resolution.Kind{OCM: c.ocm})
		if got := describe(found, err); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// wishes are for add-ons, each with a range of versions.
func wishes(pairs ...string) (all []resolution.Wish) {
	for pair := range slices.Chunk(pairs, 2) {
		all = append(all, resolution.Wish{AddOn: pair[0], Version: pair[1]})
	}
	return all
}

func describe(found *resolution.Resolution, err error) string {
	if err != nil {
		return err.Error()
	}
	var all []string
	for _, one := range found.Choices {
		all = append(all, one.AddOn+" "+one.Version)
	}
	for _, one := range found.Assumptions {
		all = append(all, "assumed: "+one)
	}
	return strings.Join(all, " ")
}
