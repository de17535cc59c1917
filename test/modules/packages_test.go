package modules

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestPackageNames tests that no two packages of the product have the same name. The versions of API groups are exempt, as in
// all projects with APIs.
func TestPackageNames(t *testing.T) {
	folders := map[string][]string{}
	for _, part := range []string{"cmd", "pkg"} {
		err := filepath.WalkDir(filepath.Join(root, part), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			folder := filepath.Dir(path)
			if name := filepath.Base(folder); !slices.Contains(folders[name], folder) {
				folders[name] = append(folders[name], folder)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(folders) < 50 {
		t.Fatalf("only %d packages", len(folders))
	}
	for name, found := range folders {
		if len(found) > 1 && !strings.HasPrefix(name, "v1") {
			t.Errorf("package %s is in %q", name, found)
		}
	}
}
