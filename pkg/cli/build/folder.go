package build

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// marker is in each folder that build has written: the lock of what it was made of.
const marker = "build.lock"

// replace writes a folder as a whole. It refuses one with other content, which would be lost.
func replace(folder string, files map[string][]byte) (err error) {
	if err := replaceable(folder); err != nil {
		return err
	}
	parent := filepath.Dir(filepath.Clean(folder))
	if err := os.MkdirAll(parent, 0o750); err != nil {
		return err
	}
	made, err := os.MkdirTemp(parent, "."+filepath.Base(folder)+"-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(made) // the first error counts
		}
	}()
	for name, content := range files {
		path := filepath.Join(made, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // it is for Git, and has no secret
			return err
		}
		if err := os.WriteFile(path, content, 0o644); err != nil { //nolint:gosec // it is for Git, and has no secret
			return err
		}
	}
	if err := os.Chmod(made, 0o755); err != nil { //nolint:gosec // it is for Git, and has no secret
		return err
	}
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	return os.Rename(made, folder)
}

func replaceable(folder string) error {
	content, err := os.ReadDir(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case len(content) == 0:
		return nil
	}
	if _, err := os.Stat(filepath.Join(folder, marker)); err != nil {
		return fmt.Errorf("%s has files that kubectl addon build has not written: name another folder with --to", folder)
	}
	return nil
}
