package airgap

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"

	"open-cluster-management.io/interlock/pkg/files/fileerror"
	"open-cluster-management.io/interlock/pkg/files/lineend"
	"open-cluster-management.io/interlock/pkg/files/wholefile"
)

// DescriptionFile is the file of a folder with the Description of its package.
const DescriptionFile = "package.yaml"

// ErrNotEmpty is the error for a folder that has files already.
var ErrNotEmpty = errors.New("is not empty: name a new folder")

// WriteFolder writes the files of a package to a new folder: an index, the wishes and the lock. It writes all of them, or none.
func (c *Content) WriteFolder(folder string) error {
	if content, err := os.ReadDir(folder); len(content) > 0 {
		return fmt.Errorf("%s %w", folder, ErrNotEmpty)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fileerror.Writing(folder, err) // it may be a file, and would be lost
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
	}, func(emptyFolder, _ string) error { return os.Remove(emptyFolder) })
}

// LockedIn returns the wishes and the lock of a folder that WriteFolder has written. It returns nil for other folders, and if
// either file was changed since.
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
		read[i] = lineend.Unix(content)
	}
	var description Description
	if err := yaml.Unmarshal(read[0], &description); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(folder, DescriptionFile), err)
	}
	if description.Wishes != digestOf(read[1]) || description.Lock != digestOf(read[2]) {
		return nil, nil // the lock and the wishes no longer belong together
	}
	return &Locked{read[1], read[2]}, nil
}
