package build

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"open-cluster-management.io/interlock/pkg/index"
)

// marker is in each folder that build has written: the lock of what it was made of.
const marker = "build.lock"

// writtenFor begins the marker. The format follows, and ends the line.
const writtenFor = "# Written by kubectl addon build --format "

// markerOf is the content of the marker; without a format, as it was before it named one.
func markerOf(format string, lock *index.Lock) ([]byte, error) {
	content, err := lock.Bytes()
	if format == "" || err != nil {
		return content, err
	}
	return append([]byte(writtenFor+format+"\n"), content...), nil
}

// formatIn is the format that the content of a marker names; empty: it names none.
func formatIn(content []byte) string {
	line, _, _ := strings.Cut(string(content), "\n")
	if format, is := strings.CutPrefix(line, writtenFor); is && slices.Contains(formats, format) {
		return format
	}
	return ""
}

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
