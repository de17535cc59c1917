package program

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/licensecheck"
)

// licenseFolder of an image or an archive has a folder for each linked module, with the texts
// that its licence demands to be passed on.
const licenseFolder = "licenses"

// licenseFile is the name of a file with such a text.
var licenseFile = regexp.MustCompile(`(?i)^(licen[cs]es?|copying|notice|patents|copyright)([.-][a-z0-9.-]+)?$`)

// moduleLicense has the texts of one module by their path in the module.
type moduleLicense map[string][]byte

// identifiers are the SPDX identifiers of the licences in the module's root.
func (m moduleLicense) identifiers() []string {
	found := map[string]bool{}
	for file, text := range m {
		if strings.Contains(file, "/") {
			continue
		}
		for _, match := range licensecheck.Scan(text).Match {
			found[match.ID] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// forBill returns the licences as a bill of materials has them.
func (m moduleLicense) forBill() *cdx.Licenses {
	licenses := cdx.Licenses{}
	for _, identifier := range m.identifiers() {
		license := &cdx.License{ID: identifier}
		if strings.HasPrefix(identifier, "Google") { // a grant of patents, which SPDX does not list
			license = &cdx.License{Name: identifier}
		}
		licenses = append(licenses, cdx.LicenseChoice{License: license})
	}
	return &licenses
}

// licensesOf reads the texts of all modules of a binary, by module path, and
// under "std" those of Go. It fails for a module without any.
func licensesOf(ctx context.Context, moduleDir string, modules []*debug.Module) (map[string]moduleLicense, error) {
	folders, err := foldersOf(ctx, moduleDir, modules)
	if err != nil {
		return nil, err
	}
	found := map[string]moduleLicense{}
	for module, folder := range folders {
		if found[module], err = readLicense(folder); err != nil {
			return nil, fmt.Errorf("licence of %s: %w", module, err)
		}
	}
	if found["std"], err = readGoLicense(ctx); err != nil {
		return nil, fmt.Errorf("licence of Go: %w", err)
	}
	return found, nil
}

// foldersOf returns the source of each module, by the path that it is imported
// by, also where another one was compiled in its place.
func foldersOf(ctx context.Context, moduleDir string, modules []*debug.Module) (map[string]string, error) {
	folders := map[string]string{}
	imported := map[string]string{} // by what was compiled
	download := exec.CommandContext(ctx, "go", "mod", "download", "-json")
	download.Dir = moduleDir
	for _, module := range modules {
		compiled := cmp.Or(module.Replace, module)
		if compiled.Version == "" || compiled.Version == "(devel)" { // a folder
			folders[module.Path] = filepath.Join(moduleDir, compiled.Path)
			continue
		}
		imported[compiled.Path] = module.Path
		download.Args = append(download.Args, compiled.Path+"@"+compiled.Version)
	}
	if len(imported) == 0 {
		return folders, nil
	}
	output, err := download.Output()
	if err != nil {
		return nil, fmt.Errorf("go mod download: %w", err)
	}
	for decoder := json.NewDecoder(bytes.NewReader(output)); ; {
		var downloaded struct{ Path, Dir string }
		err := decoder.Decode(&downloaded)
		if errors.Is(err, io.EOF) {
			return folders, nil
		}
		if err != nil {
			return nil, fmt.Errorf("go mod download: %w", err)
		}
		folders[imported[downloaded.Path]] = downloaded.Dir
	}
}

// notLinked are licences of packages that no program has, by module and file, and texts about them. A test checks that.
var notLinked = []string{"filepath-securejoin/LICENSE.MPL-2.0", "filepath-securejoin/COPYING.md"} // of pathrs-lite

// readLicense reads the texts in a folder and below. Parts that a module took
// over from elsewhere have their own.
func readLicense(folder string) (moduleLicense, error) {
	texts := moduleLicense{}
	source := os.DirFS(folder)
	err := fs.WalkDir(source, ".", func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == "testdata":
			return fs.SkipDir
		case path.Ext(file) == ".docs": // of a module's documentation, which is not linked
		case slices.Contains(notLinked, strings.Split(filepath.Base(folder), "@")[0]+"/"+file):
		case entry.Type().IsRegular() && licenseFile.MatchString(entry.Name()) && path.Ext(file) != ".go":
			texts[file], err = fs.ReadFile(source, file)
		}
		return err
	})
	if err == nil && len(texts.identifiers()) == 0 {
		err = fmt.Errorf("%s has no text of a known licence", folder)
	}
	return texts, err
}

// readGoLicense reads Go's licence, which some installations keep one folder up.
func readGoLicense(ctx context.Context) (moduleLicense, error) {
	output, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("go env GOROOT: %w", err)
	}
	root := strings.TrimSpace(string(output))
	for _, folder := range []string{root, filepath.Dir(root)} {
		if text, err := os.ReadFile(filepath.Join(folder, "LICENSE")); err == nil {
			return moduleLicense{"LICENSE": text}, nil
		}
	}
	return nil, fmt.Errorf("%s has no LICENSE: use the Go of go.dev/dl", root)
}

// licenseFiles are the files of an image or an archive, by name.
func licenseFiles(licenses map[string]moduleLicense) map[string][]byte {
	files := map[string][]byte{}
	for module, texts := range licenses {
		for file, text := range texts {
			files[path.Join(licenseFolder, module, file)] = text
		}
	}
	return files
}
