// Package regularfile opens files that users name. It refuses files that could block
// forever, such as a named pipe without a writer.
package regularfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"open-cluster-management.io/interlock/pkg/files/fileerror"
)

// Open opens a regular file, or a file that this process has open already, such as
// /dev/stdin or the <(…) of a shell. Its error names the path.
func Open(path string) (*os.File, error) {
	if err := Check(path); err != nil {
		return nil, err
	}
	file, err := os.Open(path) //nolint:gosec // the user names it
	return file, fileerror.Reading(path, err)
}

// ReadAll reads such a file. If the path is -, it reads stdin.
func ReadAll(path string, stdin io.Reader) (content []byte, err error) {
	if path == "-" {
		return io.ReadAll(stdin)
	}
	file, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return io.ReadAll(file)
}

// Check returns an error unless Open would open the path.
func Check(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return fileerror.Reading(path, err)
	case info.IsDir():
		return fmt.Errorf("%s is a directory: name a file", path)
	case !info.Mode().IsRegular() && !isOpenFile(path):
		return fmt.Errorf("%s is no regular file: name one, or - for standard input", path)
	}
	return nil
}

// isOpenFile reports whether the path names an open file of this process.
func isOpenFile(path string) bool {
	return path == "/dev/stdin" || strings.HasPrefix(path, "/dev/fd/") || strings.HasPrefix(path, "/proc/self/fd/")
}
