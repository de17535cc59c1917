package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

const interlock = "../../go.mod"

// Interlock, its control plane, OCM and the benchmark have more than half of their
// packages in common. Packages are compiled once only where versions are the same.
func TestModulesShareVersions(t *testing.T) {
	first := map[string][2]string{}
	for _, module := range []string{interlock, "../../test/controlplane/go.mod", "../../test/ocm/go.mod", "../../test/benchmark/go.mod"} {
		for path, version := range requirements(t, module) {
			// With other versions of these, OCM would be another OCM.
			if isOCMs(path) {
				continue
			}
			before, there := first[path]
			switch {
			case !there:
				first[path] = [2]string{version, module}
			case before[0] != version:
				t.Errorf("%s requires %s %s, and %s requires %s: take the same version in both", before[1], path, before[0], module, version)
			}
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
