package airgap

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"

	"open-cluster-management.io/interlock/pkg/wholefile"
)

// DescriptionFile is the file of a folder with what the package says of itself.
const DescriptionFile = "package.yaml"

// ErrNotEmpty is returned where a folder has files already.
var ErrNotEmpty = errors.New("is not empty: name a new folder")

// WriteFolder writes the files of a package to a new folder, as a whole: an index, with the wishes and the lock.
func (c *Content) WriteFolder(folder string) error {
	if content, err := os.ReadDir(folder); len(content) > 0 {
		return fmt.Errorf("%s %w", folder, ErrNotEmpty)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err // a file, which would be lost
	}
	files, err := c.Files()
	if err != nil {
		return err
	}
	description, err := yaml.Marshal(c.Description)
	if err != nil {
		return err
	}
	return wholefile.WriteFolder(folder, func(yield func(string, []byte) bool) {
		for _, file := range append(files, File{Name: DescriptionFile, Content: description}) {
			if !yield(file.Name, file.Content) {
				return
			}
		}
	}, os.Remove)
}

// LockedIn returns the wishes and the lock of a folder that WriteFolder has written; nil for another folder, or where one of the
// two was changed since.
func LockedIn(folder string) (*Locked, error) {
	var read [3][]byte
	for i, name := range []string{DescriptionFile, WishesFile, LockFile} {
		content, err := os.ReadFile(filepath.Join(folder, name)) //nolint:gosec // the user names the folder
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil // another folder has no lock
		}
		if err != nil {
			return nil, err
		}
		read[i] = content
	}
	var of Description
	if err := yaml.Unmarshal(read[0], &of); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(folder, DescriptionFile), err)
	}
	if of.Wishes != digestOf(read[1]) || of.Lock != digestOf(read[2]) {
		return nil, nil // it is for no wishes any more
	}
	return &Locked{read[1], read[2]}, nil
}
