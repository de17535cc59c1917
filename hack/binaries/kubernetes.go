package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// controlPlaneSource is the folder of the module that builds Kubernetes.
const controlPlaneSource = "test/controlplane"

var releaseVersion = regexp.MustCompile(`^v1\.([0-9]+)\.([0-9]+)(-[a-z0-9.]+)?$`)

// withKubernetes returns the sets of this repository for another version of Kubernetes. Its programs are built from a copy of
// test/controlplane that requires this version, in a folder of its own: BIN/kubernetes/VERSION.
func withKubernetes(bin, version string) ([]set, string, error) {
	if version == "" {
		return sets, bin, nil
	}
	version = "v" + strings.TrimPrefix(version, "v")
	if !releaseVersion.MatchString(version) {
		return nil, "", fmt.Errorf("-kubernetes=%q: must be a version of Kubernetes such as 1.34.4", version)
	}
	dir, err := filepath.Abs(filepath.Join(bin, "kubernetes", version))
	if err != nil {
		return nil, "", err
	}
	source := filepath.Join(dir, "source")
	if err := requireKubernetes(source, version); err != nil {
		return nil, "", fmt.Errorf("kubernetes %s: %w", version, err)
	}
	var built []set
	for _, s := range sets {
		if s.source == controlPlaneSource {
			s.source, s.assets = source, "" // the folder in the variable has another version
			built = append(built, s)
		}
	}
	return built, dir, nil
}

// requireKubernetes copies the programs of test/controlplane, and writes a go.mod that requires this version. Libraries have
// the versions that Kubernetes requires, as in its release.
func requireKubernetes(source, version string) error {
	if err := os.MkdirAll(source, 0o755); err != nil {
		return err
	}
	goMod, err := goModFor(version)
	if err != nil {
		return err
	}
	if written, err := os.ReadFile(filepath.Join(source, "go.mod.wanted")); err == nil && string(written) == goMod {
		return nil
	}
	if err := os.RemoveAll(source); err != nil {
		return err
	}
	if err := os.CopyFS(source, os.DirFS(controlPlaneSource)); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(source, "go.sum")); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(source, "go.mod"), []byte(goMod), 0o644); err != nil {
		return err
	}
	if err := runGo(source, io.Discard, isDownload, "mod", "tidy"); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(source, "go.mod.wanted"), []byte(goMod), 0o644)
}

func isDownload(line string) bool {
	return strings.HasPrefix(line, "go: downloading ") || strings.HasPrefix(line, "go: finding ") || strings.HasPrefix(line, "go: found ")
}

// goModFor returns a go.mod. The modules that Kubernetes keeps in its own repository have the version v0.0.0 in its go.mod,
// and are published as v0.MINOR.PATCH. Which ones there are depends on the version.
func goModFor(version string) (string, error) {
	var download, required bytes.Buffer
	if err := runGo(controlPlaneSource, &download, isDownload, "mod", "download", "-json", "k8s.io/kubernetes@"+version); err != nil {
		return "", err
	}
	var module struct{ GoMod string }
	if err := json.Unmarshal(download.Bytes(), &module); err != nil {
		return "", err
	}
	if err := runGo(controlPlaneSource, &required, nil, "mod", "edit", "-json", module.GoMod); err != nil {
		return "", err
	}
	var read struct {
		Go      string
		Require []struct{ Path, Version string }
	}
	if err := json.Unmarshal(required.Bytes(), &read); err != nil {
		return "", err
	}
	parts := releaseVersion.FindStringSubmatch(version)
	staging := "v0." + parts[1] + "." + parts[2] + parts[3]
	var goMod strings.Builder
	fmt.Fprintf(&goMod, "module open-cluster-management.io/interlock/test/controlplane\n\ngo %s\n\nrequire k8s.io/kubernetes %s\n\n", read.Go, version)
	for _, require := range read.Require {
		switch {
		case require.Version == "v0.0.0":
			fmt.Fprintf(&goMod, "replace %s => %s %s\n\n", require.Path, require.Path, staging)
		case strings.HasPrefix(require.Path, "go.etcd.io/etcd/"):
			fmt.Fprintf(&goMod, "require go.etcd.io/etcd/server/v3 %s\n\n", require.Version)
		}
	}
	return goMod.String(), nil
}
