package airgap

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"
)

// DescriptionFile is the file of a folder with what the package says of itself.
const DescriptionFile = "package.yaml"

// ErrNotEmpty is returned where a folder has files already.
var ErrNotEmpty = errors.New("is not empty: name a new folder")

// WriteFolder writes the files of a package to a new folder, as a whole: an index, with the wishes and the lock.
func (c *Content) WriteFolder(folder string) (err error) {
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
	if err := writeFiles(made, append(files, File{Name: DescriptionFile, Content: description})); err != nil {
		return err
	}
	if err := os.Remove(folder); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.Rename(made, folder)
}

// writeFiles writes below a folder, and nowhere else.
func writeFiles(folder string, files []File) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	for _, file := range files {
		if err := errors.Join(root.MkdirAll(filepath.Dir(file.Name), 0o755), root.WriteFile(file.Name, file.Content, 0o644)); err != nil {
			return errors.Join(err, root.Close())
		}
	}
	return errors.Join(root.Chmod(".", 0o755), root.Close())
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
