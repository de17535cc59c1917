package ocm

import (
	"fmt"
	"os/exec"
	"path/filepath"

	"open-cluster-management.io/interlock/test/testenv"
)

// Clusteradm runs OCM's command-line tool as the administrator of the hub, and returns its output.
func (h *Hub) Clusteradm(args ...string) (string, error) {
	root, err := testenv.RepositoryRoot()
	if err != nil {
		return "", err
	}
	path := filepath.Join(root, "bin", "clusteradm")
	if !exists(path) {
		return "", fmt.Errorf("no %s to run: run `make clusteradm`", path)
	}
	out, err := exec.Command(path, append(args, "--kubeconfig", h.Kubeconfig())...).CombinedOutput()
	return string(out), err
}
