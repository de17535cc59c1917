package program

import (
	"os/exec"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
)

// Each module of a released program has a known license.
func TestLicencesOfThePrograms(t *testing.T) {
	for _, program := range []string{"addon-manager", "addon-agent", "kubectl-addon"} {
		list := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{with .Replace}}{{.Path}}{{end}}{{end}}{{end}}", "./cmd/"+program)
		list.Dir = "../../.."
		output, err := list.Output()
		if err != nil {
			t.Fatal(err)
		}
		var linked []*debug.Module
		for _, line := range slices.Compact(slices.Sorted(strings.Lines(string(output)))) {
			switch fields := strings.Fields(line); len(fields) {
			case 2:
				linked = append(linked, &debug.Module{Path: fields[0], Version: fields[1]})
			case 3: // a module of the repository
				linked = append(linked, &debug.Module{Path: fields[0], Replace: &debug.Module{Path: fields[2]}})
			}
		}
		if len(linked) < 10 {
			t.Fatalf("%s is linked from %d modules only", program, len(linked))
		}
		licenses, err := licensesOf(t.Context(), list.Dir, linked)
		if err != nil {
			t.Errorf("%s: %v", program, err)
		}
		for module, license := range licenses {
			for _, identifier := range license.identifiers() {
				if !slices.Contains(permissive, identifier) {
					t.Errorf("%s: %s has the licence %s", program, module, identifier)
				}
			}
		}
	}
}

// The packages with the licenses that are left out are not linked.
func TestWhatHasAnotherLicenceIsNotLinked(t *testing.T) {
	list := exec.Command("go", "list", "-deps", "./cmd/...")
	list.Dir = "../../.."
	output, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	if packages := string(output); !strings.Contains(packages, "filepath-securejoin") || strings.Contains(packages, "pathrs-lite") {
		t.Error("filepath-securejoin is not linked any more, or with pathrs-lite")
	}
}

// permissive are the licenses that only require their texts beside a binary that is passed
// on.
var permissive = []string{"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "Unlicense", "GooglePatentsFile"}
