package kustomization

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// fileNames are the names of the files that kustomize reads.
var fileNames = []string{"kustomization.yaml", "kustomization.yml", "Kustomization"}

// group is the API group of kustomize's own files.
const group = "kustomize.config.k8s.io"

// File is the file of a kustomization.
type File struct {
	Path string
	// Component is whether it is a Component, which is built only as a part of other kustomizations.
	Component bool
}

// Find returns the file of the kustomization in a folder, or nil.
func Find(folder string) (*File, error) {
	for _, name := range fileNames {
		path := filepath.Join(folder, name)
		content, err := os.ReadFile(path) //nolint:gosec // the user names the folder
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if typeMeta, ok := typeOf(content); ok {
			return &File{path, typeMeta.Kind == "Component"}, nil
		}
	}
	return nil, nil
}

// IsPath reports whether a path leads to a kustomization, by its name.
func IsPath(path string) bool { return slices.Contains(fileNames, filepath.Base(path)) }

// OverlayAdvice says what to name instead of a folder in which several kustomizations give the same add-on.
const OverlayAdvice = "each kustomization in the folder is built by itself, so name the folder of one overlay"

// IsFile reports whether a file has a kustomization, by its name and its content.
func IsFile(path string, content []byte) bool {
	_, ok := typeOf(content)
	return ok && IsPath(path)
}

// IsKustomization reports whether an object is a file of kustomize, and no object of a cluster. A Kustomization of Flux is an object.
func IsKustomization(apiVersion string) bool { return strings.HasPrefix(apiVersion, group+"/") }

// typeOf returns the kind of a kustomization, which it may leave out. It returns false for another object.
func typeOf(content []byte) (metav1.TypeMeta, bool) {
	var typeMeta metav1.TypeMeta
	if err := yaml.Unmarshal(content, &typeMeta); err != nil {
		return typeMeta, true // kustomize reports the error
	}
	return typeMeta, typeMeta.APIVersion == "" || IsKustomization(typeMeta.APIVersion)
}
