// Package program compiles Go programs reproducibly, so that the same source gives the same
// bytes, and lists their modules.
package program

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"open-cluster-management.io/interlock/hack/images/archive"
)

// Platform is an operating system and a processor architecture, in Go's names.
type Platform struct{ System, Architecture string }

func (p Platform) String() string { return p.System + "/" + p.Architecture }

// Program describes a program to compile.
type Program struct {
	Name string
	// Package is the program's package, and ModuleDir the folder of its module.
	Package, ModuleDir string
	LDFlags            string
	Version            string
	// Created is the time of all files. It is the time of the commit, not of the build.
	Created time.Time
}

// Binary is a program for one platform.
type Binary struct {
	Content  []byte
	Platform Platform
	modules  *modules
}

// Build compiles a static binary. The same source gives the same bytes on every machine and at every time.
func (p Program) Build(ctx context.Context, platform Platform) (*Binary, error) {
	folder, err := os.MkdirTemp("", "images-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	binary := filepath.Join(folder, "program")
	command := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", p.LDFlags, "-o", binary, p.Package)
	command.Dir = p.ModuleDir
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+platform.System, "GOARCH="+platform.Architecture)
	if output, err := command.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build %s for %s: %w\n%s", p.Package, platform, err, output)
	}
	modules, err := readModules(ctx, p, binary)
	if err != nil {
		return nil, fmt.Errorf("for %s: %w", platform, err)
	}
	content, err := os.ReadFile(binary)
	return &Binary{Content: content, Platform: platform, modules: modules}, err
}

// Licenses returns the license texts of all modules in the binary, in a folder for each module.
func (b *Binary) Licenses() []archive.File {
	texts := licenseFiles(b.modules.licenses)
	files := make([]archive.File, 0, len(texts))
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		files = append(files, archive.File{Name: name, Mode: 0o444, Content: texts[name]})
	}
	return files
}
