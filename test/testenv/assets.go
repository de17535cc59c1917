package testenv

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"open-cluster-management.io/interlock/manifests"
)

const (
	assetsVariable = "KUBEBUILDER_ASSETS"
	moduleLine     = "module open-cluster-management.io/interlock\n"
)

// Assets returns the folder with kube-apiserver and etcd: KUBEBUILDER_ASSETS, or bin/ of the repository that contains
// the working directory.
func Assets() (string, error) {
	dir, remedy := os.Getenv(assetsVariable), "unset "+assetsVariable+" and run `make control-plane`"
	if dir == "" {
		root, err := RepositoryRoot()
		if err != nil {
			return "", err
		}
		dir, remedy = filepath.Join(root, "bin"), "run `make control-plane`"
	}
	for _, binary := range []string{"kube-apiserver", "etcd"} {
		if _, err := os.Stat(filepath.Join(dir, binary)); err != nil {
			return "", fmt.Errorf("no %s to start a cluster with: %w (%s)", binary, err, remedy)
		}
	}
	return dir, nil
}

// RepositoryRoot returns the folder of Interlock's repository. It looks upwards, because tests run in their package's
// folder.
func RepositoryRoot() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		content, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && strings.HasPrefix(string(content), moduleLine) {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("%s is not inside Interlock's repository: set %s to a folder with kube-apiserver and etcd",
				start, assetsVariable)
		}
	}
}

func hubCRDs() ([]*apiextensionsv1.CustomResourceDefinition, error) {
	paths, err := fs.Glob(manifests.CRDs, "crds/*.yaml")
	if err != nil {
		return nil, err
	}
	crds := make([]*apiextensionsv1.CustomResourceDefinition, 0, len(paths))
	for _, path := range paths {
		raw, err := manifests.CRDs.ReadFile(path)
		if err != nil {
			return nil, err
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(raw, crd); err != nil {
			return nil, fmt.Errorf("manifests/%s: %w", path, err)
		}
		crds = append(crds, crd)
	}
	return crds, nil
}

func sanitize(name string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(`/\:`, r) {
			return '-'
		}
		return r
	}, name)
}
