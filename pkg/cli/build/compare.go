package build

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"open-cluster-management.io/interlock/pkg/index"
)

// Compare returns what differs between a folder that build has written and what it would write for a lock, in the
// same format. Flux's source, and the path of the folder in it, are those that the folder names first: flags have set them.
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
	possible, err := possibleIn(folder, lock, planned)
	if err != nil {
		return nil, err
	}
	return compare(folder, possible)
}

// possibleIn are the contents that a folder may have: of the format that it names, or of each.
func possibleIn(folder string, lock *index.Lock, planned []index.Planned) (possible []map[string][]byte, err error) {
	content, err := os.ReadFile(filepath.Join(folder, marker)) //nolint:gosec // a path that the user named
	if err != nil {
		return nil, err
	}
	written := formatIn(content)
	for _, format := range formats {
		if written != "" && written != format {
			continue
		}
		of := layout{format: format}
		if format == formatFlux {
			of.fluxSource, of.fluxPath = fluxIn(folder)
		}
		files, err := of.files(planned)
		if err != nil {
			return nil, err
		}
		if files[marker], err = markerOf(written, lock); err != nil {
			return nil, err
		}
		possible = append(possible, files)
	}
	return possible, nil
}

// fluxIn returns the source, and the path in it, that the first Kustomization of Flux in a folder names. They are empty where
// it cannot be read, which is a difference then.
func fluxIn(folder string) (source, in string) {
	content, err := os.ReadFile(filepath.Join(folder, fluxFile)) //nolint:gosec // a path that the user named
	if err != nil {
		return "", ""
	}
	first, _, _ := strings.Cut(string(content), "\n---\n")
	var named struct {
		Spec struct {
			Path      string `json:"path"`
			SourceRef struct {
				Name string `json:"name"`
			} `json:"sourceRef"`
		} `json:"spec"`
	}
	if err := yaml.Unmarshal([]byte(first), &named); err != nil {
		return "", ""
	}
	return named.Spec.SourceRef.Name, path.Dir(strings.TrimPrefix(named.Spec.Path, "./"))
}

// compare compares a folder with contents, in one of several formats.
func compare(folder string, possible []map[string][]byte) (differences []string, err error) {
	seen := map[string]bool{}
	err = filepath.WalkDir(folder, func(path string, file fs.DirEntry, err error) error {
		if err != nil || file.IsDir() {
			return err
		}
		name, err := filepath.Rel(folder, path)
		if err != nil {
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
	for name := range possible[0] { // if the format is not known, these are those of each
		if !seen[name] {
			differences = append(differences, filepath.Join(folder, name)+" is missing")
		}
	}
	slices.Sort(differences)
	return differences, err
}
