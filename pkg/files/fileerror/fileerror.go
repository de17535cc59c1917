// Package fileerror explains errors about files that users name. The errors of the operating system begin with the name of a system call, and
// may name a temporary file.
package fileerror

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// StandardInput is the name of the path - in messages.
const StandardInput = "standard input"

// Name returns the name of a path in messages.
func Name(path string) string {
	if path == "-" {
		return StandardInput
	}
	return path
}

// explained is an error with a message for users.
type explained struct {
	message string
	cause   error
}

func (e *explained) Error() string { return e.message }

// Unwrap returns the error of the operating system.
func (e *explained) Unwrap() error { return e.cause }

// Reading explains why a path cannot be read. It returns errors that are not about files as they are.
func Reading(path string, err error) error {
	cause := causeOf(err)
	if cause == nil || errors.As(err, new(*explained)) {
		return err
	}
	message := fmt.Sprintf("%s cannot be read: %v", path, cause)
	if errors.Is(cause, fs.ErrNotExist) || errors.Is(cause, syscall.ENOTDIR) {
		message = fmt.Sprintf("there is no file or folder %s", path)
	}
	return &explained{message, err}
}

// Writing explains why a file or a folder cannot be written. It returns errors that are not about files as they are.
func Writing(path string, err error) error {
	cause := causeOf(err)
	if cause == nil {
		return err
	}
	message := fmt.Sprintf("%s cannot be written: %v", path, cause)
	switch {
	case errors.Is(cause, fs.ErrNotExist):
		message = fmt.Sprintf("%s cannot be written: there is no folder %s, and it cannot be made", path, filepath.Dir(path))
	case errors.Is(cause, syscall.ENOTDIR):
		message = fmt.Sprintf("%s cannot be written: it or a folder above it is a file", path)
	case errors.Is(cause, syscall.EISDIR), errors.Is(cause, fs.ErrExist):
		message = fmt.Sprintf("%s cannot be written: it is a folder, or in its way is one: name a file", path)
	}
	return &explained{message, err}
}

// causeOf returns the cause of an error of the operating system about a file. It returns nil for other errors.
func causeOf(err error) error {
	if failed := new(fs.PathError); errors.As(err, &failed) {
		return failed.Err
	}
	if failed := new(os.LinkError); errors.As(err, &failed) {
		return failed.Err
	}
	return nil
}
