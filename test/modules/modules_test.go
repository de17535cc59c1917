// Package modules tests the Go modules of the repository: the modules that their importers inherit, and the versions that
// they require.
package modules

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
)

const (
	root      = "../.."
	interlock = "open-cluster-management.io/interlock"
)

// requirements are the versions that a module is built with, by the path of the module required.
type requirements map[string]string

// all returns the requirements of each module of the repository by its folder.
func all(t *testing.T) map[string]requirements {
	t.Helper()
	modules := map[string]requirements{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch name := entry.Name(); {
		case err != nil:
			return err
		case entry.IsDir() && (name == "testdata" || name == "bin" || name == ".git"):
			return fs.SkipDir
		case name == "go.mod":
			folder, err := filepath.Rel(root, filepath.Dir(path))
			modules[filepath.ToSlash(folder)] = read(t, path)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(modules) < 20 {
		t.Fatalf("only the modules %v", modules)
	}
	return modules
}

func read(t *testing.T, path string) requirements {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	file, err := modfile.Parse(path, content, nil)
	if err != nil {
		t.Fatal(err)
	}
	required := requirements{}
	for _, module := range file.Require {
		required[module.Mod.Path] = module.Mod.Version
	}
	for _, module := range file.Replace {
		if _, ok := required[module.Old.Path]; ok && module.New.Version != "" {
			required[module.Old.Path] = module.New.Version
		}
	}
	return required
}

// Each is published with its own text. Go would take that of the repository, but the builder of images does not.
func TestModulesForOthersHaveTheLicence(t *testing.T) {
	want, err := os.ReadFile(filepath.Join(root, "LICENSE"))
	if err != nil {
		t.Fatal(err)
	}
	for _, module := range []string{"pkg/apis", "pkg/author"} {
		if text, err := os.ReadFile(filepath.Join(root, module, "LICENSE")); err != nil || !bytes.Equal(text, want) {
			t.Errorf("%s/LICENSE is not as LICENSE: copy it (%v)", module, err)
		}
	}
}

// The types are for everyone, so they need no more than other types.
func TestTypesRequireNothingElseOfInterlock(t *testing.T) {
	for path := range read(t, filepath.Join(root, "pkg/apis/go.mod")) {
		if strings.HasPrefix(path, interlock) {
			t.Errorf("pkg/apis requires %s", path)
		}
	}
}
