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

	"open-cluster-management.io/interlock/pkg/files/lineend"
	"open-cluster-management.io/interlock/pkg/offline/index"
)

// Compare returns the differences between a folder that build has written, and the folder that it would write for a lock in the same
// format. It reads the source of Flux, and the path of the folder in the source, from the folder, because flags of build have set
// them.
func Compare(folder string, lock *index.Lock, entries []index.Entry) ([]string, error) {
	folderLock, err := index.ReadLock(filepath.Join(folder, markerFile))
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("there is no folder %s: kubectl addon build writes it", folder)
		}
		return nil, fmt.Errorf("%s was not written by kubectl addon build: it has no %s", folder, markerFile)
	}
	if err != nil {
		return nil, err
	}
	if len(folderLock.ClusterKinds) == 1 && len(lock.ClusterKinds) > 1 { // as with --cluster-kind
		if lock, err = lock.Only(folderLock.ClusterKinds[0].Name); err != nil {
			return []string{fmt.Sprintf("%s: %v", folder, err)}, nil
		}
	}
	plan, err := index.Plan(lock, entries)
	if err != nil {
		return nil, err
	}
	candidates, err := candidateContents(folder, lock, plan)
	if err != nil {
		return nil, err
	}
	return compare(folder, candidates)
}

// candidateContents returns the contents that a folder may have: of the format that its marker names, or else of each format.
func candidateContents(folder string, lock *index.Lock, plan []index.Planned) ([]map[string][]byte, error) {
	content, err := os.ReadFile(filepath.Join(folder, markerFile)) //nolint:gosec // a path that the user named
	if err != nil {
		return nil, err
	}
	var candidates []map[string][]byte
	written := formatIn(lineend.Unix(content))
	for _, format := range formats {
		if written != "" && written != format {
			continue
		}
		layout := layout{format: format}
		if format == formatFlux {
			layout.fluxSource, layout.fluxPath = readFlux(folder)
		}
		files, err := layout.files(plan)
		if err != nil {
			return nil, err
		}
		if files[markerFile], err = markerContent(written, lock); err != nil {
			return nil, err
		}
		candidates = append(candidates, files)
	}
	return candidates, nil
}

// readFlux returns the name of the source, and the path in it, from the first Kustomization of Flux in a folder. They are empty if it
// cannot be read. Compare then reports a difference.
func readFlux(folder string) (sourceName, sourcePath string) {
	content, err := os.ReadFile(filepath.Join(folder, fluxFile)) //nolint:gosec // a path that the user named
	if err != nil {
		return "", ""
	}
	first, _, _ := strings.Cut(string(lineend.Unix(content)), "\n---\n")
	var kustomization struct {
		Spec struct {
			Path      string `json:"path"`
			SourceRef struct {
				Name string `json:"name"`
			} `json:"sourceRef"`
		} `json:"spec"`
	}
	if err := yaml.Unmarshal([]byte(first), &kustomization); err != nil {
		return "", ""
	}
	return kustomization.Spec.SourceRef.Name, path.Dir(strings.TrimPrefix(kustomization.Spec.Path, "./"))
}

// compare compares a folder with the candidates for its contents.
func compare(folder string, candidates []map[string][]byte) ([]string, error) {
	var differences []string
	seen := map[string]bool{}
	err := filepath.WalkDir(folder, func(path string, file fs.DirEntry, err error) error {
		if err != nil || file.IsDir() {
			return err
		}
		name, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		if isForeign(name) {
			return nil
		}
		content, err := os.ReadFile(path) //nolint:gosec // a path that the user named
		if err != nil {
			return err
		}
		seen[name] = true
		expected := false
		for _, files := range candidates {
			want, ok := files[name]
			if ok && bytes.Equal(lineend.Unix(content), want) {
				return nil
			}
			expected = expected || ok
		}
		if !expected {
			differences = append(differences, path+" is nothing that the lock has")
			return nil
		}
		differences = append(differences, path+" is not what kubectl addon build writes for the lock")
		return nil
	})
	for name := range candidates[0] { // Without a known format, these are the files that all formats have.
		if !seen[name] {
			differences = append(differences, filepath.Join(folder, name)+" is missing")
		}
	}
	slices.Sort(differences)
	return differences, err
}
