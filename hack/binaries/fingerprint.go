package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// fingerprint returns a checksum of all inputs of the build. File times would cause a
// new build after every fresh checkout.
func (s set) fingerprint() (string, error) {
	sum := sha256.New()
	fmt.Fprintln(sum, runtime.Version(), runtime.GOOS, runtime.GOARCH, ldflagsFormat, s.packages, s.version)
	err := filepath.WalkDir(s.source, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !isSource(entry.Name()) {
			return err
		}
		fmt.Fprintln(sum, path)
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		defer file.Close()
		_, err = io.Copy(sum, file)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("read the sources: %w", err)
	}
	return fmt.Sprintf("%x\n", sum.Sum(nil)), nil
}

func isSource(name string) bool {
	return name == "go.mod" || name == "go.sum" || strings.HasSuffix(name, ".go")
}
