package upstream

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// patches has a folder for each module of OCM that is patched.
const patches = "../../upstream"

// patched is OCM's source with the patches, in a temporary folder.
type patched struct {
	folder string
	// modfile is this module's go.mod, with OCM's modules replaced by those in folder.
	modfile string
}

// newPatched copies OCM's modules out of the module cache, in the versions of go.mod, and applies the patches.
func newPatched(t *testing.T) patched {
	t.Helper()
	folder := t.TempDir()
	source := patched{folder: folder, modfile: filepath.Join(folder, "go.mod")}
	for _, name := range []string{"go.mod", "go.sum"} {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, module := range modules(t) {
		path := "open-cluster-management.io/" + module
		run(t, ".", "go", "mod", "download", path)
		cached := strings.TrimSpace(run(t, ".", "go", "list", "-m", "-f", "{{.Dir}}", path))
		if err := os.CopyFS(source.module(module), os.DirFS(cached)); err != nil {
			t.Fatal(err)
		}
		for _, patch := range patchesOf(t, module) {
			run(t, source.module(module), "git", "apply", "--whitespace=error-all", "--verbose", patch)
		}
		run(t, folder, "go", "mod", "edit", "-replace", path+"="+source.module(module), source.modfile)
	}
	return source
}

func (p patched) module(name string) string {
	return filepath.Join(p.folder, name)
}

// goTest runs `go test` on packages of the patched modules.
func (p patched) goTest(t *testing.T, arguments ...string) string {
	t.Helper()
	return run(t, ".", "go", append([]string{"test", "-modfile=" + p.modfile}, arguments...)...)
}

// modules names the modules of OCM that have patches.
func modules(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir(patches)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		if entry.IsDir() {
			names = append(names, entry.Name())
		}
	}
	if !slices.Contains(names, "api") || !slices.Contains(names, "ocm") {
		t.Fatalf("%s has patches for %q only", patches, names)
	}
	return names
}

// patchesOf returns the patches of a module, in the order in which they apply.
func patchesOf(t *testing.T, module string) []string {
	t.Helper()
	folder, err := filepath.Abs(filepath.Join(patches, module))
	if err != nil {
		t.Fatal(err)
	}
	paths, err := filepath.Glob(filepath.Join(folder, "*.patch"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no patches in %s: %v", folder, err)
	}
	slices.Sort(paths)
	return paths
}

// run returns what a command prints, and fails with it where the command fails.
func run(t *testing.T, folder, name string, arguments ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), name, arguments...)
	command.Dir = folder
	// In a repository, git apply would skip files that the repository does not have.
	command.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(folder))
	var errors bytes.Buffer
	command.Stderr = &errors
	output, err := command.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", strings.Join(command.Args, " "), err, output, errors.Bytes())
	}
	return string(output)
}
