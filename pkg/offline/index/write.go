package index

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"open-cluster-management.io/interlock/pkg/dependency/declaration/versions"
	"open-cluster-management.io/interlock/pkg/files/fileerror"
	"open-cluster-management.io/interlock/pkg/files/wholefile"
)

// Write adds a release to an index. It returns false if the index has the release already. It refuses to change a version that the
// index has, because locks name its digest.
func Write(index string, release *Release) (bool, error) {
	path := filepath.Join(index, folder, release.path())
	var stored Release
	switch err := readFile(path, ReleaseKind, &stored); {
	case err == nil && stored.Digest == release.Digest:
		return false, nil
	case err == nil:
		return false, fmt.Errorf("%s: %s %s is there with another content: give it another version, or remove the file",
			path, release.Name, release.Version)
	case !errors.Is(err, fs.ErrNotExist):
		return false, fileerror.Writing(path, err)
	}
	if err := checkSpelling(filepath.Dir(path), release); err != nil {
		return false, err
	}
	content, err := release.Bytes()
	if err != nil {
		return false, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return false, fileerror.Writing(path, err)
	}
	return true, Replace(path, content)
}

// checkSpelling returns an error if the folder of an add-on has the version of a release in another spelling: v1.0.0 and 1.0.0 are one
// version.
func checkSpelling(folder string, release *Release) error {
	version, err := versions.ParseRelease(release.Version)
	if err != nil {
		return fmt.Errorf("version: %w", err)
	}
	files, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fileerror.Writing(folder, err)
	}
	for _, file := range files {
		stored, err := versions.ParseRelease(strings.TrimSuffix(file.Name(), extension))
		if err == nil && versions.IsSame(stored, version) {
			return fmt.Errorf("%s: %s %s is there in another spelling: give it another version, or remove the file",
				filepath.Join(folder, file.Name()), release.Name, release.Version)
		}
	}
	return nil
}

// Replace writes a file as a whole: a reader sees the former content or the new content.
func Replace(path string, content []byte) error {
	return wholefile.Write(path, func(file io.Writer) error {
		_, err := file.Write(content)
		return err
	})
}
