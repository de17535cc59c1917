package build

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"open-cluster-management.io/interlock/pkg/index"
	"open-cluster-management.io/interlock/pkg/wholefile"
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
func replace(folder string, files map[string][]byte) error {
	if err := replaceable(folder); err != nil {
		return err
	}
	return wholefile.WriteFolder(folder, maps.All(files), os.RemoveAll)
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
