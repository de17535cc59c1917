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

// Folders, relative to the folder of this module. OCM's modules have the versions of the go.mod beside them.
const (
	patches   = "../../upstream"
	own       = "."
	interlock = "../.."
)

// modules are OCM's modules with patches, each with the folder whose go.mod has its version. OCM 1.2.1 requires an
// older addon-framework than Interlock, so no go.mod has all of them.
var modules = map[string]string{"api": interlock, "addon-framework": interlock, "ocm": own}

// Patched is the source of OCM's modules with the patches.
type Patched struct {
	folder string
}

// New copies OCM's modules out of the module cache into a folder, and applies the patches.
func New(ctx context.Context, folder string) (*Patched, error) {
	p := &Patched{folder: folder}
	for name, versions := range modules {
		if _, err := run(ctx, versions, "go", "mod", "download", path(name)); err != nil {
			return nil, err
		}
		cached, err := run(ctx, versions, "go", "list", "-m", "-f", "{{.Dir}}", path(name))
		if err != nil {
			return nil, err
		}
		if err := os.CopyFS(p.Module(name), os.DirFS(strings.TrimSpace(cached))); err != nil {
			return nil, err
		}
		files, err := patchesOf(name)
		if err != nil {
			return nil, err
		}
		for _, patch := range files {
			if _, err := run(ctx, p.Module(name), "git", "apply", "--whitespace=error-all", patch); err != nil {
				return nil, err
			}
		}
	}
	return p, nil
}

// Module returns the folder of a patched module.
func (p *Patched) Module(name string) string { return filepath.Join(p.folder, name) }

// Modfile writes a copy of the go.mod in a folder. In the copy, the patched modules replace the named modules. It
// returns the path of the copy.
func (p *Patched) Modfile(ctx context.Context, source string, names ...string) (string, error) {
	target, err := os.MkdirTemp(p.folder, "modfile")
	if err != nil {
		return "", err
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		content, err := os.ReadFile(filepath.Join(source, name))
		if err != nil {
			return "", err
		}
		if err := os.WriteFile(filepath.Join(target, name), content, 0o600); err != nil {
			return "", err
		}
	}
	modfile := filepath.Join(target, "go.mod")
	for _, name := range names {
		if _, err := run(ctx, target, "go", "mod", "edit", "-replace", path(name)+"="+p.Module(name), modfile); err != nil {
			return "", err
		}
	}
	return modfile, nil
}

// path returns the module path of one of OCM's modules.
func path(name string) string { return "open-cluster-management.io/" + name }

// patchesOf returns the patches of a module, in the order in which they apply.
func patchesOf(name string) ([]string, error) {
	folder, err := filepath.Abs(filepath.Join(patches, name))
	if err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.patch"))
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("no patches in %s", folder)
	}
	slices.Sort(files)
	return files, err
}

// run returns the standard output of a command. Its error includes all output.
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
