package declarationtest_test

import (
	"slices"
	"strings"
	"testing"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/author/declarationtest"
	"open-cluster-management.io/interlock/test/fixture"
)

type (
	cluster = declarationtest.Cluster
	addOn   = declarationtest.AddOn
)

func installed(nameAndVersion ...string) cluster {
	var on cluster
	for pair := range slices.Chunk(nameAndVersion, 2) {
		on.AddOns = append(on.AddOns, addOn{Name: pair[0], Version: pair[1]})
	}
	return on
}

func kubernetes(version string) cluster { return cluster{Kubernetes: version} }
func ocm(version string) cluster        { return cluster{OCM: version} }

const (
	platform = "Required Open Cluster Management version of the hub "
	// ifInstalled is Deckhouse's `test: ">v0.22.1 !optional"`.
	ifInstalled = `dependencies: [{name: test, type: IfInstalled, version: ">v0.22.1"}]`
	three       = `dependencies: [{name: ingress-nginx, version: "> 1.67.0"}, {name: node-local-dns, version: ">= 0.0.0"},` +
		`{name: operator-trivy, version: "> v1.64.0"}]`
)

// What Deckhouse's documentation says of enabling a module, of an add-on: where Deckhouse
// refuses or disables the module, the add-on is degraded, and stays installed.
func TestDeckhouseEnabling(t *testing.T) {
	for name, test := range map[string]struct {
		spec string
		on   cluster
		want string // what the message begins with; empty: all is satisfied
	}{
		"a platform that is new enough": {`requirements: {ocm: ">= 1.61"}`, ocm("1.61.0"), ""},
		"a platform that is too old": {
			`requirements: {ocm: "> 1.64.0"}`, ocm("1.0.0"), platform + "'> 1.64.0' is not met. (it is 1.0.0)",
		},
		"a platform as old as the limit that is excluded": {
			`requirements: {ocm: "> 1.64.0"}`, ocm("1.64.0"), platform + "'> 1.64.0' is not met. (it is 1.64.0)",
		},
		"a platform whose version is not known": {
			`requirements: {ocm: ">= 1.61"}`, cluster{}, platform + "'>= 1.61' is not met. (not known",
		},
		"Kubernetes that is new enough": {`requirements: {kubernetes: ">= 1.28"}`, kubernetes("1.28"), ""},
		"Kubernetes that is too old": {
			`requirements: {kubernetes: ">= 1.28"}`, kubernetes("1.27"), "Required Kubernetes version '>= 1.28' is not met.",
		},

		"three add-ons in the versions wanted": {
			three, installed("ingress-nginx", "1.67.1", "node-local-dns", "0.1.0", "operator-trivy", "v1.65.0"), "",
		},
		"any version will do, but none is reported": { // no version in the declaration is for this
			three, installed("ingress-nginx", "1.67.1", "node-local-dns", "", "operator-trivy", "v1.65.0"),
			"Required addon 'node-local-dns' is not installed or not available in version '>= 0.0.0'. (version not known",
		},
		"one of them is not enabled": {
			three, installed("ingress-nginx", "1.67.1", "operator-trivy", "v1.65.0"),
			"Required addon 'node-local-dns' is not installed or not available. (not installed)",
		},
		"one of them is as old as the limit that is excluded": {
			three, installed("ingress-nginx", "1.67.0", "node-local-dns", "0.1.0", "operator-trivy", "v1.65.0"),
			"Required addon 'ingress-nginx' is not installed or not available in version '> 1.67.0'. (version 1.67.0 from its agent's lease)",
		},
		"a version that is equal to that of the platform": {
			`dependencies: [{name: test, version: ">= 1.61"}]`, cluster{OCM: "1.62.0", AddOns: []addOn{{Name: "test", Version: "@ocm"}}}, "",
		},

		"an optional one that is not enabled": {ifInstalled, cluster{}, ""},
		"an optional one in another version": {
			ifInstalled, installed("test", "v0.21.1"), "Addon 'test' is installed, but not in version '>v0.22.1'. (version v0.21.1",
		},
		"an optional one in the version": {ifInstalled, installed("test", "v0.22.2"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			hub := declarationtest.New([]addonv1alpha1.ClusterManagementAddOn{fixture.Specified(t, "prometheus", test.spec)})
			expect(t, hub.Check("prometheus", test.on), test.want)
		})
	}
}

// What it says of updating and disabling: what Deckhouse refuses would break something here.
func TestDeckhouseUpdatingAndDisabling(t *testing.T) {
	const exact = `dependencies: [{name: test, type: IfInstalled, version: "=v0.22.1"}]`
	prometheus := addOn{Name: "prometheus"}
	both := func(version string) cluster { return installed("test", version).With(prometheus) }
	before := cluster{Kubernetes: "1.28.0", OCM: "1.64.0"}.With(prometheus)
	upgraded := func(kubernetes, ocm string) cluster {
		return cluster{Kubernetes: kubernetes, OCM: ocm}.With(prometheus)
	}
	for name, test := range map[string]struct {
		spec          string
		before, after cluster
		want          string
	}{
		"the platform, to a version that fits": {`requirements: {ocm: "< 1.73.4"}`, before, upgraded("1.28.0", "1.73.3"), ""},
		"the platform, to one that does not": {
			`requirements: {ocm: "< 1.73.4"}`, before, upgraded("1.28.0", "1.73.4"), "prometheus: " + platform,
		},
		"Kubernetes, to a version that fits": {`requirements: {kubernetes: "< 1.30"}`, before, upgraded("1.29.6", "1.64.0"), ""},
		"Kubernetes, to one that does not": {
			`requirements: {kubernetes: "< 1.30"}`, before, upgraded("1.30.0", "1.64.0"), "prometheus: Required Kubernetes version",
		},
		"a required one is disabled": {
			`dependencies: [{name: test}]`, both("0.1.0"), both("0.1.0").Without("test"),
			"prometheus: Required addon 'test' is not installed",
		},
		"an optional one is disabled":                {ifInstalled, both("v0.22.2"), both("v0.22.2").Without("test"), ""},
		"an optional one is enabled in the version":  {ifInstalled, cluster{}.With(prometheus), both("v0.22.2"), ""},
		"an optional one is enabled in another":      {ifInstalled, cluster{}.With(prometheus), both("v0.21.1"), "prometheus: "},
		"an optional one is updated in the range":    {ifInstalled, both("v0.22.2"), both("v0.23.1"), ""},
		"an optional one is updated out of it":       {exact, both("v0.22.1"), both("0.23.1"), "prometheus: "},
		"what is broken already is not broken again": {exact, both("0.23.0"), both("0.23.1"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			hub := declarationtest.New([]addonv1alpha1.ClusterManagementAddOn{fixture.Specified(t, "prometheus", test.spec)})
			expect(t, hub.CheckChange(test.before, test.after), test.want)
		})
	}
}

// "The update for prometheus will be blocked until test is updated."
func TestDeckhouseUpdatingTheDependent(t *testing.T) {
	prometheus := fixture.Deployed(fixture.Registration("prometheus"))
	hub := declarationtest.New([]addonv1alpha1.ClusterManagementAddOn{prometheus},
		fixture.Template("prometheus", "prometheus-2", `[{name: test, type: IfInstalled, version: ">v0.22.1"}]`))
	one, two := addOn{Name: "prometheus", Template: "prometheus-1"}, addOn{Name: "prometheus", Template: "prometheus-2"}
	for name, test := range map[string]struct {
		on   cluster
		want string
	}{
		"test is not enabled":   {cluster{}, ""},
		"test is too old":       {installed("test", "v0.21.1"), "prometheus: "},
		"test has been updated": {installed("test", "v0.22.2"), ""},
	} {
		t.Run(name, func(t *testing.T) { expect(t, hub.CheckChange(test.on.With(one), test.on.With(two)), test.want) })
	}
}

func expect(t *testing.T, err error, want string) {
	t.Helper()
	got := ""
	if err != nil {
		got = err.Error()
	}
	if want == "" && got != "" || !strings.HasPrefix(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
