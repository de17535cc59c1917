// Command manifests writes the manifests that are embedded in OCM's operator, its
// CRDs and RBAC among them, into the folder "manifests" of the given folder, as
// they are in OCM's repository.
package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"open-cluster-management.io/ocm/manifests"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: manifests FOLDER")
		os.Exit(2)
	}
	if err := write(filepath.Join(os.Args[1], "manifests")); err != nil {
		fmt.Fprintln(os.Stderr, "write OCM's manifests:", err)
		os.Exit(1)
	}
}

// write replaces the folder: a file of another version must not stay.
func write(dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	for _, files := range []fs.FS{manifests.ClusterManagerManifestFiles, manifests.KlusterletManifestFiles} {
		if err := os.CopyFS(dir, files); err != nil {
			return err
		}
	}
	return nil
}
