package hubrelease

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// checksumsFile has the checksums of the files of a release, as sha256sum writes them.
const checksumsFile = "SHA256SUMS"

// checksums has the SHA-256 of files in hex, by their names. It is nil if the folder has no checksums.
type checksums map[string]string

func readChecksums(folder string) (checksums, error) {
	content, err := os.ReadFile(filepath.Join(folder, checksumsFile)) //nolint:gosec // the user names the folder
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	sums := checksums{}
	for line := range strings.Lines(string(content)) {
		sum, name, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok {
			return nil, fmt.Errorf("%s: %q is no line of sha256sum", checksumsFile, strings.TrimSpace(line))
		}
		sums[strings.TrimLeft(name, " *")] = sum
	}
	return sums, nil
}

// check returns an error unless the file has the content that its checksum says.
func (c checksums) check(name string, content []byte) error {
	return c.checkFile(name, bytes.NewReader(content))
}

// checkFile is check for a file that is too large for memory. It reads the file from its start, and leaves its position at the end.
func (c checksums) checkFile(name string, file io.Reader) error {
	if c == nil {
		return nil
	}
	want, ok := c[name]
	if !ok {
		return fmt.Errorf("%s does not name %s, so it is no file of this release", checksumsFile, name)
	}
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return err
	}
	if got := hex.EncodeToString(hash.Sum(nil)); got != want {
		return fmt.Errorf("its content was changed: it has SHA-256 %s, and %s says %s", got, checksumsFile, want)
	}
	return nil
}
