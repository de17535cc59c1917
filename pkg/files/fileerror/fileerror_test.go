package fileerror

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestExplain(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	none := filepath.Join(folder, "none")
	read := func(path string) error {
		_, err := os.ReadFile(path)
		return Reading(path, err)
	}
	write := func(target, path string) error { return Writing(target, os.WriteFile(path, nil, 0o600)) }
	denied := &fs.PathError{Op: "open", Path: "y", Err: fs.ErrPermission}
	for name, tt := range map[string]struct {
		got  error
		want string
		is   error
	}{
		"missing":         {read(none), "there is no file or folder " + none, fs.ErrNotExist},
		"below a file":    {read(filepath.Join(file, "x")), "there is no file or folder " + filepath.Join(file, "x"), nil},
		"a folder":        {read(folder), folder + " cannot be read: is a directory", nil},
		"no file error":   {Reading(file, errors.ErrUnsupported), errors.ErrUnsupported.Error(), errors.ErrUnsupported},
		"twice":           {Reading("other", read(none)), "there is no file or folder " + none, fs.ErrNotExist},
		"no parent":       {write(none, filepath.Join(none, "x")), "none cannot be written: there is no folder ", fs.ErrNotExist},
		"a file above":    {write(none, filepath.Join(file, "x")), "it or a folder above it is a file", nil},
		"over a folder":   {Writing(folder, os.Rename(file, folder)), "it is a folder, or in its way is one", nil},
		"no write error":  {Writing(file, nil), "", nil},
		"permission":      {Writing("x", denied), "x cannot be written: permission denied", fs.ErrPermission},
		"no read failure": {Reading(file, nil), "", nil},
	} {
		if tt.want == "" {
			if tt.got != nil {
				t.Errorf("%s: %v", name, tt.got)
			}
			continue
		}
		if tt.got == nil || !strings.Contains(tt.got.Error(), tt.want) || tt.is != nil && !errors.Is(tt.got, tt.is) {
			t.Errorf("%s: %v, want %q", name, tt.got, tt.want)
		}
	}
	if Name("-") != "standard input" || Name("a") != "a" {
		t.Error("another name of a path")
	}
}
