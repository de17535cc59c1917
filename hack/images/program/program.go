// Package program compiles Go programs so that the same source gives the same
// bytes, and finds out what they were linked from.
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

// Platform is what a binary runs on, as Go names it.
type Platform struct{ System, Architecture string }

func (p Platform) String() string { return p.System + "/" + p.Architecture }

// Program says what a binary is to be made of.
type Program struct {
	Name string
	// Package is the program's package, and ModuleDir the folder of its module.
	Package, ModuleDir string
	LDFlags            string
	Version            string
	// Created is the time of all files: that of the commit, not of the build.
	Created time.Time
}

// Binary is a program for one platform.
type Binary struct {
	Content  []byte
	Platform Platform
	linked   *modules
}

// Build makes a static binary that is the same wherever and whenever it is made.
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
	linked, err := linkedInto(ctx, p, binary)
	if err != nil {
		return nil, fmt.Errorf("for %s: %w", platform, err)
	}
	content, err := os.ReadFile(binary)
	return &Binary{Content: content, Platform: platform, linked: linked}, err
}

// Licenses are the texts of all that is linked into the binary, in a folder for each module.
func (b *Binary) Licenses() []archive.File {
	texts := licenseFiles(b.linked.licenses)
	files := make([]archive.File, 0, len(texts))
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		files = append(files, archive.File{Name: name, Mode: 0o444, Content: texts[name]})
	}
	return files
}
