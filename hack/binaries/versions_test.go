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

// The modules of each group have more than half of their packages in common. Packages
// are compiled once only where versions are the same. The control plane stays at the
// newest patch release of Kubernetes 1.35 that the module proxy has, with the versions
// that Kubernetes was released with, and OCM and its add-ons beside it. Interlock follows its libraries'
// releases.
func TestModulesShareVersions(t *testing.T) {
	for _, group := range [][]string{
		{interlock, "../../test/benchmark/go.mod"},
		{controlPlane, openClusterManagement},
		{openClusterManagement, "../../test/e2e/addons/go.mod"},
	} {
		first := requirements(t, group[0])
		for path, version := range requirements(t, group[1]) {
			// With other versions of these, OCM would be another OCM.
			if before, there := first[path]; there && before != version && !isOCMs(path) {
				t.Errorf("%s requires %s %s, and %s requires %s: take the same version in both", group[0], path, before, group[1], version)
			}
		}
	}
}

// What ships is not older than what it is tested with.
func TestInterlockIsNotBehindItsControlPlane(t *testing.T) {
	shipped := requirements(t, interlock)
	for path, version := range requirements(t, controlPlane) {
		own, there := shipped[path]
		if there && semver.MustParse(own).LessThan(semver.MustParse(version)) {
			t.Errorf("%s requires %s %s, and %s requires %s: raise the first", interlock, path, own, controlPlane, version)
		}
	}
}

// The benchmark measures Interlock with the libraries that Interlock is built with.
func TestBenchmarkHasInterlocksVersions(t *testing.T) {
	shipped := requirements(t, interlock)
	for path, version := range requirements(t, "../../test/benchmark/go.mod") {
		if wanted, there := shipped[path]; there && isOCMs(path) && version != wanted {
			t.Errorf("the benchmark requires %s %s, Interlock %s: take the same version in both", path, version, wanted)
		}
	}
}

// A release is packaged and rendered with what deploy/ is tested with, and its images are
// made as all others.
func TestAReleaseIsMadeWithWhatIsTested(t *testing.T) {
	released := requirements(t, "../release/go.mod")
	for _, tested := range []string{"../deployment/go.mod", "../images/go.mod"} {
		for path, version := range requirements(t, tested) {
			made := strings.HasPrefix(path, "helm.sh/") || strings.HasPrefix(path, "sigs.k8s.io/kustomize/") ||
				path == "github.com/google/go-containerregistry" || path == "github.com/CycloneDX/cyclonedx-go"
			if made && released[path] != version {
				t.Errorf("%s requires %s %s, and ../release/go.mod %s: take the same version in both", tested, path, version, released[path])
			}
		}
	}
}

// What the benchmark needs for its charts is not for the users of Interlock's packages.
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
	found := map[string]string{}
	for _, match := range requirement.FindAllStringSubmatch(string(content), -1) {
		found[match[1]] = match[2]
	}
	if len(found) == 0 {
		t.Fatalf("%s requires nothing", module)
	}
	return found
}
