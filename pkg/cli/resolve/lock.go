package resolve

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"open-cluster-management.io/interlock/pkg/files/fileerror"
	"open-cluster-management.io/interlock/pkg/files/lineend"
	"open-cluster-management.io/interlock/pkg/kube/cmdline"
	"open-cluster-management.io/interlock/pkg/offline/index"
	"open-cluster-management.io/interlock/pkg/text"
)

// ErrLock is returned by --locked if the lock differs from the result of resolving again.
var ErrLock = errors.New("the lock differs from what the wishes and the index give")

// ErrNoLock is returned if there is no lock.
var ErrNoLock = errors.New("there is no lock yet: kubectl addon resolve writes it")

// ReadLock reads the lock.
func (f *Files) ReadLock() (*index.Lock, error) {
	lock, err := index.ReadLock(f.Lock)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, f.noLock()
	case err != nil:
		return nil, cmdline.UsageError(err)
	}
	return lock, nil
}

func (f *Files) noLock() error { return cmdline.UsageError(fmt.Errorf("%s: %w", f.Lock, ErrNoLock)) }

// LockError reports that the lock differs from the result of resolving again. It is ErrLock.
type LockError struct {
	file string
	// Differences are the differences by kind and add-on. Without any, only the form of the file differs.
	Differences []index.Difference
}

// Unwrap returns ErrLock.
func (e *LockError) Unwrap() error { return ErrLock }

// remedy says what to do about a lock that differs.
const remedy = "run kubectl addon resolve, and review what changes"

// Error has a line for each difference.
func (e *LockError) Error() string {
	lines := []string{fmt.Sprintf("%s: %s: %s", e.file, ErrLock, remedy)}
	for _, difference := range e.Differences {
		lines = append(lines, "  "+text.OneLine(difference.String()))
	}
	return strings.Join(lines, "\n")
}

// CheckLock returns the content of the lock, with the line ends of Unix. If the result of resolving again differs, the error is a
// LockError, and ErrNoLock without a lock. The sources of releases may differ, because they are notes for readers: the digests are those
// of the content.
func (f *Files) CheckLock(newLock *index.Lock) ([]byte, error) {
	content, err := os.ReadFile(f.Lock)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, f.noLock()
	case err != nil:
		return nil, fileerror.Reading(f.Lock, err)
	}
	content = lineend.Unix(content)
	lockErr := &LockError{file: f.Lock}
	if oldLock, err := index.DecodeLock(content); err == nil {
		newLock = newLock.WithSources(oldLock)
		lockErr.Differences = index.Differences(oldLock, newLock)
	} else {
		lockErr.Differences = []index.Difference{{Message: "it cannot be read: " + err.Error()}}
	}
	want, err := newLock.Bytes()
	if err != nil || bytes.Equal(content, want) {
		return content, err
	}
	if len(lockErr.Differences) == 0 {
		lockErr.Differences = []index.Difference{{Message: "the file was changed by hand: its comments, its order or its form differ"}}
	}
	return content, lockErr
}

// WarnOfMisfits reports how the lock no longer fits the wishes. Without a file of the default name, there is nothing to compare. Wishes
// that cannot be read are an error.
func (f *Files) WarnOfMisfits(lock *index.Lock, entries []index.Entry, out io.Writer) error {
	wishes, _, err := index.ReadWishes(f.Wishes)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !f.named:
		return nil
	case err != nil:
		return cmdline.UsageError(err)
	}
	for _, misfit := range lock.Misfits(wishes, entries) {
		fmt.Fprintln(out, text.OneLine(fmt.Sprintf("Warning: %s does not fit %s: %s: %s", f.Lock, f.Wishes, misfit, remedy)))
	}
	return nil
}

// WriteLock writes the lock, and reports it. Releases that the file has keep their sources, so a reader sees only what changes.
func (f *Files) WriteLock(lock *index.Lock, out io.Writer) error {
	switch oldLock, err := index.ReadLock(f.Lock); {
	case err == nil:
		lock = lock.WithSources(oldLock)
	case !errors.Is(err, fs.ErrNotExist):
		fmt.Fprintln(out, text.OneLine(fmt.Sprintf("Warning: the file is written anew, because it could not be read: %v", err)))
	}
	content, err := lock.Bytes()
	if err != nil {
		return err
	}
	if err := index.Replace(f.Lock, content); err != nil {
		return err
	}
	fmt.Fprintf(out, "%s was written.\n", f.Lock)
	return nil
}
