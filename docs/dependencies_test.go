package docs

import (
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// named returns the modules in the tables of a part of the page.
func named(part string) []string {
	var modules []string
	for line := range strings.Lines(part) {
		if cells := strings.Split(line, "|"); len(cells) > 2 {
			for _, match := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[1], -1) {
				modules = append(modules, match[1])
			}
		}
	}
	slices.Sort(modules)
	return modules
}

// linked returns the modules that the packages import, without tests.
func linked(t *testing.T) []string {
	t.Helper()
	list := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", "./cmd/...", "./pkg/...")
	list.Dir = root
	output, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(output))
}

func TestDependenciesAreReasoned(t *testing.T) {
	_, block, _ := strings.Cut(read(t, "go.mod"), "require (")
	block, _, _ = strings.Cut(block, ")")
	var required []string
	for line := range strings.Lines(block) {
		// Interlock's own modules need no reason.
		if fields := strings.Fields(line); len(fields) == 2 && !strings.HasPrefix(line, "\topen-cluster-management.io/interlock/") {
			required = append(required, fields[0])
		}
	}
	slices.Sort(required)
	_, rest, _ := strings.Cut(read(t, "docs/dependencies.md"), "## In the programs")
	programs, rest, _ := strings.Cut(rest, "## Only in tests")
	tests, _, _ := strings.Cut(rest, "## In modules of their own")
	inPrograms, inTests := named(programs), named(tests)
	listed := slices.Concat(inPrograms, inTests)
	slices.Sort(listed)
	if !slices.Equal(listed, required) {
		t.Errorf("docs/dependencies.md has\n%v\ngo.mod requires\n%v", listed, required)
	}
	compiled := linked(t)
	for _, module := range inPrograms {
		if !slices.Contains(compiled, module) {
			t.Errorf("%s is not in the programs", module)
		}
	}
}
