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

	"open-cluster-management.io/interlock/pkg/files/wholefile"
	"open-cluster-management.io/interlock/pkg/offline/index"
)

// markerFile is a file in each folder that build has written. It has the lock of the add-ons in the folder.
const markerFile = "build.lock"

// formatPrefix begins the first line of the marker. The format follows, and ends the line.
const formatPrefix = "# Written by kubectl addon build --format "

// markerContent returns the content of the marker. Without a format, it is as older versions have written it.
func markerContent(format string, lock *index.Lock) ([]byte, error) {
	content, err := lock.Bytes()
	if format == "" || err != nil {
		return content, err
	}
	return append([]byte(formatPrefix+format+"\n"), content...), nil
}

// formatIn returns the format that the content of a marker names. It returns an empty string for a marker of an older version.
func formatIn(content []byte) string {
	line, _, _ := strings.Cut(string(content), "\n")
	if format, ok := strings.CutPrefix(line, formatPrefix); ok && slices.Contains(formats, format) {
		return format
	}
	return ""
}

// replace writes a folder as a whole, and keeps the files of others in it. It refuses to replace a folder that build has not written.
func replace(folder string, files map[string][]byte) error {
	if err := checkReplaceable(folder); err != nil {
		return err
	}
	return wholefile.WriteFolder(folder, maps.All(files), func(oldFolder, newFolder string) error {
		if err := keepForeign(oldFolder, newFolder); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return os.RemoveAll(oldFolder)
	})
}

func checkReplaceable(folder string) error {
	content, err := os.ReadDir(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case len(content) == 0:
		return nil
	}
	if _, err := os.Stat(filepath.Join(folder, markerFile)); err != nil {
		return fmt.Errorf("%s has files that kubectl addon build has not written: name another folder with --to", folder)
	}
	return nil
}
