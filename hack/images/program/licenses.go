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

// licenseFolder is the folder of an image or an archive with a subfolder for each linked module.
// A subfolder has the texts that the license of the module requires to be passed on.
const licenseFolder = "licenses"

// licenseFile matches the name of a file with such a text.
var licenseFile = regexp.MustCompile(`(?i)^(licen[cs]es?|copying|notice|patents|copyright)([.-][a-z0-9.-]+)?$`)

// moduleLicense has the license texts of one module by their path in the module.
type moduleLicense map[string][]byte

// identifiers returns the SPDX identifiers of the licenses in the module's root.
func (m moduleLicense) identifiers() []string {
	ids := map[string]bool{}
	for file, text := range m {
		if strings.Contains(file, "/") {
			continue
		}
		for _, match := range licensecheck.Scan(text).Match {
			ids[match.ID] = true
		}
	}
	return slices.Sorted(maps.Keys(ids))
}

// forBill returns the licenses in the form for a bill of materials.
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

// licensesOf reads the license texts of all modules of a binary, by module path. "std" has
// the license of Go. It fails for a module without a license.
func licensesOf(ctx context.Context, moduleDir string, modules []*debug.Module) (map[string]moduleLicense, error) {
	folders, err := foldersOf(ctx, moduleDir, modules)
	if err != nil {
		return nil, err
	}
	licenses := map[string]moduleLicense{}
	for module, folder := range folders {
		if licenses[module], err = readLicense(folder); err != nil {
			return nil, fmt.Errorf("licence of %s: %w", module, err)
		}
	}
	if licenses["std"], err = readGoLicense(ctx); err != nil {
		return nil, fmt.Errorf("licence of Go: %w", err)
	}
	return licenses, nil
}

// foldersOf returns the source folder of each module, by the module path in imports. A
// replaced module has the folder of its replacement.
func foldersOf(ctx context.Context, moduleDir string, modules []*debug.Module) (map[string]string, error) {
	folders := map[string]string{}
	imported := map[string]string{} // by the path of the compiled module
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

// notLinked are licenses of packages that no program contains, by module and file, and texts about them. A test checks that.
var notLinked = []string{"filepath-securejoin/LICENSE.MPL-2.0", "filepath-securejoin/COPYING.md"} // of pathrs-lite

// readLicense reads the license texts in a folder and its subfolders. Parts that a module
// copied from other projects have their own licenses.
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

// readGoLicense reads Go's license, which some installations keep in the parent folder.
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

// licenseFiles returns the license files of an image or an archive, by name.
func licenseFiles(licenses map[string]moduleLicense) map[string][]byte {
	files := map[string][]byte{}
	for module, texts := range licenses {
		for file, text := range texts {
			files[path.Join(licenseFolder, module, file)] = text
		}
	}
	return files
}
