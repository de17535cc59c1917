package upstream

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Folders, as seen from that of this module. OCM's modules come in the versions of the go.mod beside them.
const (
	patches   = "../../upstream"
	own       = "."
	interlock = "../.."
)

// modules are OCM's that have patches, each with the folder whose go.mod has its version. OCM 1.2.1 requires an older
// addon-framework than Interlock, so no go.mod has all of them.
var modules = map[string]string{"api": interlock, "addon-framework": interlock, "ocm": own}

// Patched is the source of OCM's modules with the patches.
type Patched struct {
	folder string
}

// New copies OCM's modules out of the module cache into a folder, and applies the patches.
func New(ctx context.Context, folder string) (*Patched, error) {
	p := &Patched{folder: folder}
	for name, from := range modules {
		if _, err := run(ctx, from, "go", "mod", "download", path(name)); err != nil {
			return nil, err
		}
		cached, err := run(ctx, from, "go", "list", "-m", "-f", "{{.Dir}}", path(name))
		if err != nil {
			return nil, err
		}
		if err := os.CopyFS(p.Module(name), os.DirFS(strings.TrimSpace(cached))); err != nil {
			return nil, err
		}
		found, err := patchesOf(name)
		if err != nil {
			return nil, err
		}
		for _, patch := range found {
			if _, err := run(ctx, p.Module(name), "git", "apply", "--whitespace=error-all", patch); err != nil {
				return nil, err
			}
		}
	}
	return p, nil
}

// Module is the folder of a patched module.
func (p *Patched) Module(name string) string { return filepath.Join(p.folder, name) }

// Modfile writes a copy of the go.mod in a folder, in which the named modules are the patched ones. It returns its path.
func (p *Patched) Modfile(ctx context.Context, from string, names ...string) (string, error) {
	to, err := os.MkdirTemp(p.folder, "modfile")
	if err != nil {
		return "", err
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		content, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			return "", err
		}
		if err := os.WriteFile(filepath.Join(to, name), content, 0o600); err != nil {
			return "", err
		}
	}
	modfile := filepath.Join(to, "go.mod")
	for _, name := range names {
		if _, err := run(ctx, to, "go", "mod", "edit", "-replace", path(name)+"="+p.Module(name), modfile); err != nil {
			return "", err
		}
	}
	return modfile, nil
}

// path is the module path of one of OCM's modules.
func path(name string) string { return "open-cluster-management.io/" + name }

// patchesOf returns the patches of a module, in the order in which they apply.
func patchesOf(name string) ([]string, error) {
	folder, err := filepath.Abs(filepath.Join(patches, name))
	if err != nil {
		return nil, err
	}
	found, err := filepath.Glob(filepath.Join(folder, "*.patch"))
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("no patches in %s", folder)
	}
	slices.Sort(found)
	return found, err
}

// run returns what a command prints. Its error has what else the command printed.
func run(ctx context.Context, folder, name string, arguments ...string) (string, error) {
	command := exec.CommandContext(ctx, name, arguments...)
	command.Dir = folder
	// In a repository, git apply would skip files that the repository does not have.
	command.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(folder))
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s%s", strings.Join(command.Args, " "), err, &stdout, &stderr)
	}
	return stdout.String(), nil
}
