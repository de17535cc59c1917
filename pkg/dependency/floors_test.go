package dependency

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// module is the path under which the floors are imported.
const module = "open-cluster-management.io/interlock/pkg/dependency/"

// floors are the packages of this folder, each with those that it may import.
// An arrow back would make a loop of decisions. A new package needs a place here.
var floors = map[string][]string{
	"graph":        {},
	"input":        {},
	"versions":     {},
	"undone":       {},
	"schema":       {},
	"settings":     {"undone"},
	"expression":   {"input", "versions"},
	"policy":       {"versions"},
	"declaration":  {"input", "versions", "schema", "expression", "policy"},
	"catalog":      {"graph", "input", "versions", "policy", "declaration"},
	"evaluation":   {"graph", "input", "versions", "expression", "policy", "settings", "declaration", "catalog"},
	"condition":    {"declaration", "evaluation"},
	"bundle":       {"evaluation"},
	"resolution":   {"input", "versions", "declaration", "catalog", "evaluation"},
	"review":       {"versions", "declaration", "catalog"},
	"suggestion":   {"versions", "declaration", "catalog"},
	"cause":        {"declaration", "catalog", "evaluation"},
	"gate":         {"versions", "declaration", "catalog", "evaluation", "condition"},
	"installation": {"undone", "settings", "declaration", "catalog", "evaluation"},
	"protection":   {"input", "versions", "declaration", "catalog", "evaluation", "condition", "whatif"},
	"outcome":      {"declaration", "evaluation", "condition", "bundle", "gate", "protection"},
	"steps":        {"graph", "settings", "versions", "declaration", "catalog", "evaluation", "installation", "protection", "whatif"},
	"teardown":     {"graph", "catalog", "evaluation"},
	"whatif":       {"graph", "versions", "evaluation", "condition"},
}

func TestArrowsGoUp(t *testing.T) {
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, entry := range entries {
		if !entry.IsDir() {
			continue
		}
		found++
		floor := entry.Name()
		allowed, placed := floors[floor]
		if !placed {
			t.Errorf("package %s has no place among the floors", floor)
			continue
		}
		for _, imported := range imports(t, floor) {
			if !slices.Contains(allowed, imported) {
				t.Errorf("%s imports %s, which is not below it", floor, imported)
			}
		}
	}
	if found != len(floors) {
		t.Errorf("%d packages, %d places", found, len(floors))
	}
}

// imports are the floors that a package imports, but for its tests.
func imports(t *testing.T, floor string) []string {
	t.Helper()
	files, err := os.ReadDir(floor)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, file := range files {
		if file.IsDir() || strings.HasSuffix(file.Name(), "_test.go") || filepath.Ext(file.Name()) != ".go" {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(floor, file.Name()), nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, imported := range parsed.Imports {
			path, err := strconv.Unquote(imported.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if name, ok := strings.CutPrefix(path, module); ok {
				found = append(found, name)
			}
		}
	}
	return found
}
