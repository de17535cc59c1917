package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// docs/upstream.md lists each package of pkg/compat, with the change that ends it.
func TestUpstreamNamesWhatEndsEachCompatPackage(t *testing.T) {
	_, section, ok := strings.Cut(pages(t)["docs/upstream.md"], "\n## What Interlock drops when OCM ships it\n")
	if !ok {
		t.Fatal("docs/upstream.md has no section on what Interlock drops")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	var rows []string
	for _, row := range regexp.MustCompile(`(?m)^\| (.*?) \| .+ \|$`).FindAllStringSubmatch(section, -1) {
		rows = append(rows, row[1])
	}
	table := strings.Join(rows, " ")

	packages := map[string]bool{}
	err := filepath.WalkDir(filepath.Join(root, "pkg", "compat"), func(path string, _ fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".go" {
			name, _ := filepath.Rel(root, filepath.Dir(path))
			packages[filepath.ToSlash(name)] = true
		}
		return err
	})
	if err != nil || len(packages) < 5 {
		t.Fatalf("found %d packages: %v", len(packages), err)
	}
	// It only groups the others.
	delete(packages, "pkg/compat")
	for name := range packages {
		if !strings.Contains(table, "`"+name+"`") {
			t.Errorf("docs/upstream.md does not say what ends %s", name)
		}
	}
	for _, named := range regexp.MustCompile("`(pkg/compat/[^`]*)`").FindAllStringSubmatch(table, -1) {
		if !packages[named[1]] {
			t.Errorf("docs/upstream.md says what ends %s, which is no package", named[1])
		}
	}
}

func TestUpstreamListsThePatches(t *testing.T) {
	page := pages(t)["docs/upstream.md"]
	patches, err := filepath.Glob(filepath.Join(root, "upstream", "*", "*.patch"))
	if err != nil || len(patches) == 0 {
		t.Fatalf("no patches: %v", err)
	}
	for _, patch := range patches {
		if name, _ := filepath.Rel(root, patch); !strings.Contains(page, "| `"+filepath.ToSlash(name)+"` |") {
			t.Errorf("docs/upstream.md does not list %s", name)
		}
	}
	for _, listed := range regexp.MustCompile("`(upstream/[^`]*\\.patch)`").FindAllStringSubmatch(page, -1) {
		if _, err := os.Stat(filepath.Join(root, listed[1])); err != nil {
			t.Errorf("docs/upstream.md lists %s: %v", listed[1], err)
		}
	}
}
