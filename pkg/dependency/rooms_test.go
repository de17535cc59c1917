package dependency

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// module is the path under which the rooms are imported.
const module = "open-cluster-management.io/interlock/pkg/dependency/"

// rooms are the folders of this one. Their packages import packages of the same room and of the rooms before it.
var rooms = []string{"graph", "declaration", "catalog", "evaluation", "condition", "plan", "resolution"}

func TestRoomsImportThoseBefore(t *testing.T) {
	seen := map[string]bool{}
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Dir(path) == "." || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		room := roomOf(path)
		place := slices.Index(rooms, room)
		if place < 0 {
			t.Errorf("%s: %s is no room", path, room)
		}
		seen[room] = true
		for _, imported := range imports(t, path) {
			if slices.Index(rooms, roomOf(imported)) > place {
				t.Errorf("%s imports %s, whose room comes later", path, imported)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(seen) != len(rooms) {
		t.Errorf("%d rooms, expected %d", len(seen), len(rooms))
	}
}

// roomOf returns the first folder of a path below this one.
func roomOf(path string) string {
	room, _, _ := strings.Cut(filepath.ToSlash(path), "/")
	return room
}

// imports returns the packages below this folder that a file imports.
func imports(t *testing.T, file string) (imported []string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range parsed.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		if name, ok := strings.CutPrefix(path, module); ok {
			imported = append(imported, name)
		}
	}
	return imported
}
