package build

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// layerFolder matches the names of the folders of layers. build owns them as a whole, because all that is in them is applied.
var layerFolder = regexp.MustCompile(`^[0-9]{2,}$`)

// isForeign reports whether build has nothing to do with a path in its folder: it is in no layer, and none of the files beside these.
func isForeign(name string) bool {
	first, _, _ := strings.Cut(filepath.ToSlash(name), "/")
	if layerFolder.MatchString(first) {
		return false
	}
	switch first {
	case markerFile, kustomizationFile, fluxFile:
		return false
	default:
		return true
	}
}

// keepForeign copies the files of others from a folder to the one that replaces it, such as a README. The old folder stays complete until
// it is removed.
func keepForeign(oldFolder, newFolder string) error {
	return filepath.WalkDir(oldFolder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(oldFolder, path)
		if err != nil || name == "." {
			return err
		}
		if !isForeign(name) {
			if entry.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		return copyEntry(path, filepath.Join(newFolder, name), entry)
	})
}

// copyEntry copies a file, a link or an empty folder, with its mode.
func copyEntry(source, target string, entry fs.DirEntry) error {
	info, err := entry.Info()
	switch {
	case err != nil:
		return err
	case entry.IsDir():
		return os.MkdirAll(target, info.Mode().Perm()|0o700)
	case info.Mode()&fs.ModeSymlink != 0:
		link, err := os.Readlink(source)
		if err != nil {
			return err
		}
		return os.Symlink(link, target)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is no regular file, and cannot be kept: move it out of the folder", source)
	default:
		return copyFile(source, target, info.Mode().Perm())
	}
}

func copyFile(source, target string, mode fs.FileMode) (err error) {
	from, err := os.Open(source) //nolint:gosec // it is in the folder that the user named
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	to, err := os.OpenFile(target, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode) //nolint:gosec // as above
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, to.Close())
}
