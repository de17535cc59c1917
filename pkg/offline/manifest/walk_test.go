package manifest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// linkTree makes a folder from lines such as "a.yaml" for a file, and "b.yaml -> a.yaml" for a link.
func linkTree(t *testing.T, lines string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for line := range strings.Lines(lines) {
		name, target, isLink := strings.Cut(strings.TrimSpace(line), " -> ")
		if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
			t.Fatal(err)
		}
		err := error(nil)
		if isLink {
			err = os.Symlink(target, name)
		} else {
			err = os.WriteFile(name, []byte("{}"), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Links are followed as kubectl follows them.
func TestLinksInFolders(t *testing.T) {
	for name, test := range map[string]struct{ tree, want string }{
		"a linked file":                 {"a.yaml\nd/b.yaml -> ../a.yaml", "d/b.yaml"},
		"a linked file of another kind": {"a.txt\nd/b.yaml -> ../a.txt", "d/b.yaml"},
		"a link beside its target":      {"d/a.yaml\nd/b.yaml -> a.yaml", "d/a.yaml"},
		"a linked folder":               {"e/a.yaml\nd/b.yaml\nd/e -> ../e", "d/b.yaml"},
		"a linked folder named as file": {"e/a.yaml\nd/b.yaml\nd/e.yaml -> ../e", "d/b.yaml"},
		"a link to nothing":             {"d/a.yaml -> none", "d/a.yaml"},
		"the named folder is a link":    {"e/a.yaml\nd -> e", "d/a.yaml"},
		"a mounted ConfigMap":           {"d/..2026_01_01/a.yaml\nd/..data -> ..2026_01_01\nd/a.yaml -> ..data/a.yaml", "d/a.yaml"},
		"a folder in a folder":          {"d/e/a.yaml\nd/b.json\nd/c.txt", "d/b.json d/e/a.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			linkTree(t, test.tree)
			files, err := FilesIn("d", nil)
			slices.Sort(files)
			if got := strings.Join(files, " "); err != nil || got != test.want {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

func TestALinkToNothingIsReported(t *testing.T) {
	linkTree(t, "d/a.yaml -> none")
	files, err := Read([]string{"d"}, strings.NewReader(""))
	if err != nil || len(files.Broken) != 1 || files.Broken[0].Path != "d/a.yaml" {
		t.Errorf("got %v, %v", files.Broken, err)
	}
}
