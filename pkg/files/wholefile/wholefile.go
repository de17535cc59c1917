// Package wholefile writes files and folders atomically. A reader sees either the old content or the new content.
package wholefile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"

	"open-cluster-management.io/interlock/pkg/files/fileerror"
)

// Write writes a file that all users may read. If the path is a link, it writes what the link points to.
func Write(path string, write func(io.Writer) error) error {
	target, err := linked(path)
	if err == nil {
		err = replace(target, write)
	}
	return fileerror.Writing(path, err)
}

// linked returns the path that a link points to, and any other path as it is. A renamed file or folder would replace the link itself, and
// leave what it points to as it was.
func linked(path string) (string, error) {
	info, err := os.Lstat(path)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return path, nil //nolint:nilerr // what does not exist is no link, and writing has the error of anything else
	}
	target, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s is a link to something that does not exist: name another path, or remove the link", path)
	}
	return target, err
}

// replace writes a file beside the path, and renames it.
func replace(path string, write func(io.Writer) error) (err error) {
	file, err := os.CreateTemp(filepath.Dir(path), pattern(path))
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(file.Name()) // the first error counts
		}
	}()
	err = write(file)
	if err := errors.Join(err, file.Chmod(0o644), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}

// WriteFolder writes a folder that all users may read. The files have paths relative to the folder. The function remove deletes the old
// folder, after the new one was written beside it. If the path is a link, the folder is what the link points to.
func WriteFolder(folder string, files iter.Seq2[string, []byte], remove func(oldFolder, newFolder string) error) error {
	target, err := linked(folder)
	if err == nil {
		err = replaceFolder(target, files, remove)
	}
	return fileerror.Writing(folder, err)
}

// replaceFolder writes a folder beside the old one, and renames it.
func replaceFolder(folder string, files iter.Seq2[string, []byte], remove func(oldFolder, newFolder string) error) (err error) {
	parent := filepath.Dir(filepath.Clean(folder))
	if err := os.MkdirAll(parent, 0o750); err != nil {
		return err
	}
	temporary, err := os.MkdirTemp(parent, pattern(folder))
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(temporary) // the first error counts
		}
	}()
	if err := fill(temporary, files); err != nil {
		return err
	}
	if err := remove(folder, temporary); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.Rename(temporary, folder)
}

// fill writes files below a folder. It fails for paths that lead out of the folder.
func fill(folder string, files iter.Seq2[string, []byte]) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	for name, content := range files {
		if err := errors.Join(root.MkdirAll(filepath.Dir(name), 0o755), root.WriteFile(name, content, 0o644)); err != nil {
			return errors.Join(err, root.Close())
		}
	}
	return errors.Join(root.Chmod(".", 0o755), root.Close())
}

// maxBase is the length of a name after which a temporary name is cut: it needs room for more characters, and file systems have names of
// at most 255 bytes.
const maxBase = 200

// pattern returns the pattern of the temporary name next to a path.
func pattern(path string) string {
	base := filepath.Base(path)
	return "." + base[:min(len(base), maxBase)] + "-*"
}
