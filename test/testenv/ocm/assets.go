package ocm

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"open-cluster-management.io/interlock/test/testenv"
)

const assetsVariable = "OCM_ASSETS"

// assets are the paths of the programs.
type assets struct {
	// ocm is a folder with OCM's programs, its manifests and its chart.
	ocm               string
	controllerManager string
}

// findAssets looks for OCM in OCM_ASSETS, or in bin/ocm of the repository. It looks for kube-controller-manager
// beside kube-apiserver, or in bin of the repository.
func findAssets() (assets, error) {
	controlPlane, err := testenv.Assets()
	if err != nil {
		return assets{}, err
	}
	root, err := testenv.RepositoryRoot()
	if err != nil {
		return assets{}, err
	}
	a := assets{ocm: os.Getenv(assetsVariable), controllerManager: filepath.Join(controlPlane, "kube-controller-manager")}
	if a.ocm == "" {
		a.ocm = filepath.Join(root, "bin", "ocm")
	}
	if !exists(a.controllerManager) {
		a.controllerManager = filepath.Join(root, "bin", "kube-controller-manager")
	}
	for _, path := range []string{
		a.controllerManager, a.program("registration"), a.program("addon"), a.program("placement"),
		a.program("work"), a.program("manifests"), a.program("chart"),
	} {
		if !exists(path) {
			return assets{}, fmt.Errorf("no %s to start OCM with: run `make ocm`, or set %s to a folder as docs/dev/testing.md describes it",
				path, assetsVariable)
		}
	}
	return a, nil
}

func (a assets) program(name string) string { return filepath.Join(a.ocm, name) }

// combinedWebhooks returns the program that serves the webhooks of add-ons and of managed clusters on a configurable
// port. The second result is false if there is none, as may be in OCM_ASSETS.
func (a assets) combinedWebhooks() (string, bool) {
	path := a.program("ocm")
	return path, exists(path)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, os.ErrNotExist)
}
