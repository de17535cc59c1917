package build

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"open-cluster-management.io/interlock/pkg/index"
)

// Compare returns what differs between a folder that build has written and what it would write for a lock. Flux's file is not
// compared, as flags say what is in it.
func Compare(folder string, lock *index.Lock, entries []index.Entry) (differences []string, err error) {
	built, err := index.ReadLock(filepath.Join(folder, marker))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s was not written by kubectl addon build: it has no %s", folder, marker)
	}
	if err != nil {
		return nil, err
	}
	if len(built.ClusterKinds) == 1 && len(lock.ClusterKinds) > 1 { // as with --cluster-kind
		if lock, err = lock.Only(built.ClusterKinds[0].Name); err != nil {
			return []string{fmt.Sprintf("%s: %v", folder, err)}, nil
		}
	}
	planned, err := index.Plan(lock, entries)
	if err != nil {
		return nil, err
	}
	var possible []map[string][]byte
	for _, format := range formats {
		files, err := (&layout{format: format}).files(planned)
		if err != nil {
			return nil, err
		}
		if files[marker], err = lock.Bytes(); err != nil {
			return nil, err
		}
		possible = append(possible, files)
	}
	return compare(folder, possible)
}

// compare compares a folder with contents, in one of several formats.
func compare(folder string, possible []map[string][]byte) (differences []string, err error) {
	seen := map[string]bool{fluxFile: true}
	err = filepath.WalkDir(folder, func(path string, file fs.DirEntry, err error) error {
		if err != nil || file.IsDir() {
			return err
		}
		name, err := filepath.Rel(folder, path)
		if err != nil || name == fluxFile {
			return err
		}
		content, err := os.ReadFile(path) //nolint:gosec // a path that the user named
		if err != nil {
			return err
		}
		seen[name] = true
		known := false
		for _, files := range possible {
			want, is := files[name]
			if known = known || is; is && bytes.Equal(content, want) {
				return nil
			}
		}
		if !known {
			differences = append(differences, path+" is nothing that the lock has")
			return nil
		}
		differences = append(differences, path+" is not what kubectl addon build writes for the lock")
		return nil
	})
	for name := range possible[0] { // each format has these files
		if !seen[name] {
			differences = append(differences, filepath.Join(folder, name)+" is missing")
		}
	}
	slices.Sort(differences)
	return differences, err
}
