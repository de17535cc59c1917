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
	var c cluster
	for pair := range slices.Chunk(nameAndVersion, 2) {
		c.AddOns = append(c.AddOns, addOn{Name: pair[0], Version: pair[1]})
	}
	return c
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

// TestDeckhouseEnabling tests the examples of Deckhouse's documentation about enabling a module. If
// Deckhouse refuses or disables the module, the add-on is degraded, and stays installed.
func TestDeckhouseEnabling(t *testing.T) {
	for name, test := range map[string]struct {
		spec    string
		cluster cluster
		want    string // the beginning of the message, or empty if all dependencies are satisfied
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
		"any version suffices, but none is reported": { // without a version in the declaration, none has to be reported
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

		"an optional add-on that is not enabled": {ifInstalled, cluster{}, ""},
		"an optional add-on in another version": {
			ifInstalled, installed("test", "v0.21.1"), "Addon 'test' is installed, but not in version '>v0.22.1'. (version v0.21.1",
		},
		"an optional add-on in the version": {ifInstalled, installed("test", "v0.22.2"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			hub := declarationtest.New([]addonv1alpha1.ClusterManagementAddOn{fixture.Specified(t, "prometheus", test.spec)})
			expect(t, hub.Check("prometheus", test.cluster), test.want)
		})
	}
}

// TestDeckhouseUpdatingAndDisabling tests the examples about updating and disabling. The changes that Deckhouse refuses break an add-on.
func TestDeckhouseUpdatingAndDisabling(t *testing.T) {
	const exact = `dependencies: [{name: test, type: IfInstalled, version: "=v0.22.1"}]`
	prometheus := addOn{Name: "prometheus"}
	withTest := func(version string) cluster { return installed("test", version).With(prometheus) }
	original := cluster{Kubernetes: "1.28.0", OCM: "1.64.0"}.With(prometheus)
	upgraded := func(kubernetes, ocm string) cluster {
		return cluster{Kubernetes: kubernetes, OCM: ocm}.With(prometheus)
	}
	for name, test := range map[string]struct {
		spec              string
		original, changed cluster
		want              string
	}{
		"the platform, to a version that fits": {`requirements: {ocm: "< 1.73.4"}`, original, upgraded("1.28.0", "1.73.3"), ""},
		"the platform, to a version that does not fit": {
			`requirements: {ocm: "< 1.73.4"}`, original, upgraded("1.28.0", "1.73.4"), "prometheus: " + platform,
		},
		"Kubernetes, to a version that fits": {`requirements: {kubernetes: "< 1.30"}`, original, upgraded("1.29.6", "1.64.0"), ""},
		"Kubernetes, to a version that does not fit": {
			`requirements: {kubernetes: "< 1.30"}`, original, upgraded("1.30.0", "1.64.0"), "prometheus: Required Kubernetes version",
		},
		"a required add-on is disabled": {
			`dependencies: [{name: test}]`, withTest("0.1.0"), withTest("0.1.0").Without("test"),
			"prometheus: Required addon 'test' is not installed",
		},
		"an optional add-on is disabled":               {ifInstalled, withTest("v0.22.2"), withTest("v0.22.2").Without("test"), ""},
		"an optional add-on is enabled in the version": {ifInstalled, cluster{}.With(prometheus), withTest("v0.22.2"), ""},
		"an optional add-on is enabled in another":     {ifInstalled, cluster{}.With(prometheus), withTest("v0.21.1"), "prometheus: "},
		"an optional add-on is updated in the range":   {ifInstalled, withTest("v0.22.2"), withTest("v0.23.1"), ""},
		"an optional add-on is updated out of it":      {exact, withTest("v0.22.1"), withTest("0.23.1"), "prometheus: "},
		"an add-on that was broken before":             {exact, withTest("0.23.0"), withTest("0.23.1"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			hub := declarationtest.New([]addonv1alpha1.ClusterManagementAddOn{fixture.Specified(t, "prometheus", test.spec)})
			expect(t, hub.CheckChange(test.original, test.changed), test.want)
		})
	}
}

// TestDeckhouseUpdatingTheDependent tests this example: "The update for prometheus will be blocked until test is updated."
func TestDeckhouseUpdatingTheDependent(t *testing.T) {
	prometheus := fixture.Deployed(fixture.Registration("prometheus"))
	hub := declarationtest.New([]addonv1alpha1.ClusterManagementAddOn{prometheus},
		fixture.Template("prometheus", "prometheus-2", `[{name: test, type: IfInstalled, version: ">v0.22.1"}]`))
	first, second := addOn{Name: "prometheus", Template: "prometheus-1"}, addOn{Name: "prometheus", Template: "prometheus-2"}
	for name, test := range map[string]struct {
		cluster cluster
		want    string
	}{
		"test is not enabled":   {cluster{}, ""},
		"test is too old":       {installed("test", "v0.21.1"), "prometheus: "},
		"test has been updated": {installed("test", "v0.22.2"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			expect(t, hub.CheckChange(test.cluster.With(first), test.cluster.With(second)), test.want)
		})
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
