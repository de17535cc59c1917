// Package regularfile opens files that users name, and refuses what could wait for ever,
// such as a named pipe without a writer.
package regularfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// Open opens a regular file, or one that this process has open already, such as
// /dev/stdin or the <(…) of a shell. Its error names the path.
func Open(path string) (*os.File, error) {
	if err := Check(path); err != nil {
		return nil, err
	}
	return os.Open(path) //nolint:gosec // the user names it
}

// ReadAll reads such a file; of the path -, it reads in.
func ReadAll(path string, in io.Reader) (content []byte, err error) {
	if path == "-" {
		return io.ReadAll(in)
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
		return err
	case info.IsDir():
		return fmt.Errorf("%s is a directory: name a file", path)
	case !info.Mode().IsRegular() && path != "/dev/stdin" && !strings.HasPrefix(path, "/dev/fd/") && !strings.HasPrefix(path, "/proc/self/fd/"):
		return fmt.Errorf("%s is no regular file: name one, or - for standard input", path)
	}
	return nil
}
