package cli

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// checkOutOnWindows gives all text files of a folder the line ends that Git writes on Windows.
func checkOutOnWindows(t *testing.T, folder string) {
	t.Helper()
	if err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) == ".tar" {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(path, []byte(strings.ReplaceAll(string(content), "\n", "\r\n")), 0o600)
	}); err != nil {
		t.Fatal(err)
	}
}

// Git on Windows changes the line ends of all files, and shows no difference.
func TestLineEndsDoNotMatter(t *testing.T) {
	resolvable(t)
	expectRun(t, "resolve", "CLUSTERS")
	for _, format := range []string{"kubectl", "kustomize", "argocd", "flux"} {
		expectRun(t, "build --format "+format+" --to "+format, format+"/00/proxy.yaml")
	}
	expectRun(t, "package", "sha256:")
	unix := run(t, "package", "--to", "unix.tar")
	expectRun(t, "pull unix.tar --to inside", "sha256:")
	checkOutOnWindows(t, ".")
	expectRun(t, "resolve --locked", "CLUSTERS", "addons.lock is current.")
	expectRun(t, "build --locked", "manifests/00/proxy.yaml")
	expectRun(t, "upgrade", "0 changes.\naddons.lock is current.\n")
	for _, format := range []string{"kubectl", "kustomize", "argocd", "flux"} {
		expectRun(t, "verify --to "+format, "0 differences.\n")
	}
	windows := run(t, "package", "--to", "windows.tar")
	if digest, _, _ := strings.Cut(unix, "\n"); !strings.HasPrefix(windows, digest+"\n") {
		t.Errorf("the package has another digest: %s, and not %s", windows, unix)
	}
	expectRun(t, "index build proxy --version proxy=3.0.0", "proxy 3.0.0 is there already\n")
	expectRun(t, "index build proxy --version proxy=3.1.0", "proxy 3.1.0 was added\n") // the package does not have it
	expectRun(t, "verify inside/addons.yaml --index inside", "0 differences.\n")
	expectRun(t, "verify inside/addons.yaml --index unix.tar", "0 differences.\n")
}
