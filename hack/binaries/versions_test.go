package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// Interlock, its control plane and OCM have more than half of their packages in
// common. They are compiled once, not thrice, only where versions are the same.
func TestModulesShareVersions(t *testing.T) {
	modules := []string{"../../go.mod", "../../test/controlplane/go.mod", "../../test/ocm/go.mod"}
	first := map[string][2]string{}
	for _, module := range modules {
		for path, version := range requirements(t, module) {
			// OCM has its own versions of these: other ones would make it another OCM.
			if strings.HasPrefix(path, "open-cluster-management.io/") || path == "sigs.k8s.io/controller-runtime" {
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
