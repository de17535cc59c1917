package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"
)

const (
	interlock    = "../../go.mod"
	controlPlane = "../../test/controlplane/go.mod"

	openClusterManagement = "../../test/ocm/go.mod"
)

// The modules of a group share more than half of their packages. A package is compiled
// only once if all modules have the same version. The control plane stays at the newest
// patch release of Kubernetes 1.35 that the module proxy has, with the versions of that
// release. OCM and its add-ons follow it. Interlock follows the releases of its libraries.
func TestModulesShareVersions(t *testing.T) {
	for _, group := range [][]string{
		{interlock, "../../test/benchmark/go.mod"},
		{controlPlane, openClusterManagement},
		{openClusterManagement, "../../test/e2e/addons/go.mod"},
	} {
		first := requirements(t, group[0])
		for path, version := range requirements(t, group[1]) {
			// The versions of OCM's own modules differ between releases of OCM.
			if firstVersion, ok := first[path]; ok && firstVersion != version && !isOCMs(path) {
				t.Errorf("%s requires %s %s, and %s requires %s: take the same version in both", group[0], path, firstVersion, group[1], version)
			}
		}
	}
}

// Libraries of Interlock are not older than the libraries of the control plane in its tests.
func TestInterlockIsNotBehindItsControlPlane(t *testing.T) {
	shipped := requirements(t, interlock)
	for path, version := range requirements(t, controlPlane) {
		own, ok := shipped[path]
		if ok && semver.MustParse(own).LessThan(semver.MustParse(version)) {
			t.Errorf("%s requires %s %s, and %s requires %s: raise the first", interlock, path, own, controlPlane, version)
		}
	}
}

// The benchmark measures Interlock with the libraries that Interlock is built with.
func TestBenchmarkHasInterlocksVersions(t *testing.T) {
	shipped := requirements(t, interlock)
	for path, version := range requirements(t, "../../test/benchmark/go.mod") {
		if want, ok := shipped[path]; ok && isOCMs(path) && version != want {
			t.Errorf("the benchmark requires %s %s, Interlock %s: take the same version in both", path, version, want)
		}
	}
}

// A release is packaged and rendered with the versions that deploy/ is tested with, and its
// images are built like all others.
func TestAReleaseIsMadeWithWhatIsTested(t *testing.T) {
	released := requirements(t, "../release/go.mod")
	for _, tested := range []string{"../deployment/go.mod", "../images/go.mod"} {
		for path, version := range requirements(t, tested) {
			builds := strings.HasPrefix(path, "helm.sh/") || strings.HasPrefix(path, "sigs.k8s.io/kustomize/") ||
				path == "github.com/google/go-containerregistry" || path == "github.com/CycloneDX/cyclonedx-go"
			if builds && released[path] != version {
				t.Errorf("%s requires %s %s, and ../release/go.mod %s: take the same version in both", tested, path, version, released[path])
			}
		}
	}
}

// Users of Interlock's packages do not need the libraries for the charts of the benchmark.
func TestInterlockRequiresNoCharts(t *testing.T) {
	for path := range requirements(t, interlock) {
		if strings.HasPrefix(path, "gonum.org/") {
			t.Errorf("Interlock requires %s: only the benchmark may", path)
		}
	}
}

func isOCMs(path string) bool {
	return strings.HasPrefix(path, "open-cluster-management.io/") || path == "sigs.k8s.io/controller-runtime"
}

var requirement = regexp.MustCompile(`(?m)^(?:require |\t)(\S+) (v\S+)(?: // indirect)?$`)

func requirements(t *testing.T, module string) map[string]string {
	t.Helper()
	content, err := os.ReadFile(module)
	if err != nil {
		t.Fatal(err)
	}
	versions := map[string]string{}
	for _, match := range requirement.FindAllStringSubmatch(string(content), -1) {
		versions[match[1]] = match[2]
	}
	if len(versions) == 0 {
		t.Fatalf("%s requires nothing", module)
	}
	return versions
}
