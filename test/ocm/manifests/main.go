// Command manifests writes the files that are embedded in OCM's operator and in clusteradm into a folder:
// "manifests", OCM's CRDs and RBAC, and "chart". The tests read the rights of a joining cluster from the chart. Both
// are as in OCM's repository, the second as deploy/cluster-manager/chart/cluster-manager.
package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"open-cluster-management.io/ocm/deploy/cluster-manager/chart"
	"open-cluster-management.io/ocm/manifests"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: manifests FOLDER")
		os.Exit(2)
	}
	err := write(filepath.Join(os.Args[1], "manifests"), manifests.ClusterManagerManifestFiles, manifests.KlusterletManifestFiles)
	if err == nil {
		err = writeChart(filepath.Join(os.Args[1], "chart"))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "write OCM's manifests:", err)
		os.Exit(1)
	}
}

func writeChart(dir string) error {
	files, err := fs.Sub(chart.ChartFiles, chart.ChartName)
	if err != nil {
		return err
	}
	return write(dir, files)
}

// write replaces the folder, so that no file of another version stays.
func write(dir string, contents ...fs.FS) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	for _, files := range contents {
		if err := os.CopyFS(dir, files); err != nil {
			return err
		}
	}
	return nil
}
