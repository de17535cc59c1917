package ocm

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"open-cluster-management.io/interlock/test/testenv"
)

const assetsVariable = "OCM_ASSETS"

// assets are where the programs are.
type assets struct {
	// ocm is a folder with OCM's programs, its manifests and its chart.
	ocm               string
	controllerManager string
}

// findAssets looks for OCM in OCM_ASSETS, or in bin/ocm of the repository, and
// for kube-controller-manager beside kube-apiserver, or in bin of the repository.
func findAssets() (assets, error) {
	controlPlane, err := testenv.Assets()
	if err != nil {
		return assets{}, err
	}
	root, err := testenv.RepositoryRoot()
	if err != nil {
		return assets{}, err
	}
	found := assets{ocm: os.Getenv(assetsVariable), controllerManager: filepath.Join(controlPlane, "kube-controller-manager")}
	if found.ocm == "" {
		found.ocm = filepath.Join(root, "bin", "ocm")
	}
	if !exists(found.controllerManager) {
		found.controllerManager = filepath.Join(root, "bin", "kube-controller-manager")
	}
	for _, path := range []string{
		found.controllerManager, found.program("registration"), found.program("addon"), found.program("placement"),
		found.program("work"), found.program("manifests"), found.program("chart"),
	} {
		if !exists(path) {
			return assets{}, fmt.Errorf("no %s to start OCM with: run `make ocm`, or set %s to a folder as docs/dev/testing.md describes it",
				path, assetsVariable)
		}
	}
	return found, nil
}

func (a assets) program(name string) string { return filepath.Join(a.ocm, name) }

// combinedWebhooks is the program that serves the webhooks of add-ons and of
// managed clusters on a port of ours. An OCM of OCM_ASSETS need not have it.
func (a assets) combinedWebhooks() (string, bool) {
	path := a.program("ocm")
	return path, exists(path)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, os.ErrNotExist)
}
