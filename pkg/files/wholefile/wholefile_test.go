package wholefile

import (
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"testing"
)

var errBroken = errors.New("the disk is full")

// fileNames returns the names in a folder.
func fileNames(t *testing.T, folder string) []string {
	t.Helper()
	var names []string
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func TestWrite(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "lock")
	writes := func(content string, failure error) func(io.Writer) error {
		return func(out io.Writer) error {
			_, err := io.WriteString(out, content)
			return errors.Join(err, failure)
		}
	}
	for _, test := range []struct {
		content string
		fails   error
		want    string
	}{{"first", nil, "first"}, {"half", errBroken, "first"}, {"second", nil, "second"}} {
		if err := Write(path, writes(test.content, test.fails)); !errors.Is(err, test.fails) {
			t.Errorf("%s: %v", test.content, err)
		}
		if got := read(t, path); got != test.want {
			t.Errorf("%s: it has %q", test.content, got)
		}
	}
	if got := fileNames(t, folder); len(got) != 1 {
		t.Errorf("there is %q", got)
	}
}

func TestWriteFolder(t *testing.T) {
	parent := filepath.Join(t.TempDir(), "new")
	folder := filepath.Join(parent, "index")
	files := func(path, content string) map[string][]byte { return map[string][]byte{path: []byte(content)} }
	for _, test := range []struct {
		files  map[string][]byte
		remove func(string) error
		fails  bool
		want   string
	}{
		{files("a/b.yaml", "first"), os.Remove, false, "first"},
		{files("a/b.yaml", "second"), os.Remove, true, "first"},
		{files("../b.yaml", "outside"), os.RemoveAll, true, "first"},
		{files("a/b.yaml", "third"), os.RemoveAll, false, "third"},
	} {
		remove := func(oldFolder, _ string) error { return test.remove(oldFolder) }
		if err := WriteFolder(folder, maps.All(test.files), remove); (err != nil) != test.fails {
			t.Errorf("%s: %v", test.files, err)
		}
		if got := read(t, filepath.Join(folder, "a", "b.yaml")); got != test.want {
			t.Errorf("%s: it has %q", test.files, got)
		}
		if got := fileNames(t, parent); len(got) != 1 {
			t.Errorf("%s: there is %q", test.files, got)
		}
	}
}
