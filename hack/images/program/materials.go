package program

import (
	"bytes"
	"cmp"
	"context"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// modules are the modules in a binary, from the build information that Go wrote into it.
type modules struct {
	goVersion    string
	dependencies []*debug.Module
	// ownVersion is the version of the modules in the program's own repository.
	ownVersion string
	// licenses are the license texts, by module path. "std" has the license of Go.
	licenses map[string]moduleLicense
}

func readModules(ctx context.Context, p Program, binary string) (*modules, error) {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return nil, fmt.Errorf("read the modules of %s: %w", p.Name, err)
	}
	licenses, err := licensesOf(ctx, p.ModuleDir, info.Deps)
	if err != nil {
		return nil, err
	}
	if own, err := os.ReadFile(filepath.Join(p.ModuleDir, "LICENSE")); err == nil {
		licenses[info.Main.Path] = moduleLicense{"LICENSE": own}
	}
	return &modules{
		goVersion: strings.TrimPrefix(info.GoVersion, "go"), dependencies: info.Deps, ownVersion: goVersion(p.Version), licenses: licenses,
	}, nil
}

// goVersion returns a version as Go writes it, with v. Charts and images have none.
func goVersion(version string) string {
	if number, _, ok := strings.Cut(version, "."); ok {
		if _, err := strconv.Atoi(number); err == nil {
			return "v" + version
		}
	}
	return version
}

// BillOfMaterials returns the bill of materials of a subject that consists of the binary:
// its modules and their licenses. It has neither time nor serial number, so that the same
// binary has the same bill.
func (b *Binary) BillOfMaterials(subject cdx.Component) ([]byte, error) {
	linked, bill := b.modules, cdx.NewBOM()
	subject.Properties = &[]cdx.Property{{Name: "platform", Value: b.Platform.String()}}
	bill.Metadata = &cdx.Metadata{Component: &subject}
	components := []cdx.Component{{
		BOMRef: "std", Type: cdx.ComponentTypeLibrary, Name: "std",
		Version: linked.goVersion, PackageURL: "pkg:golang/std@" + linked.goVersion, Licenses: linked.licenses["std"].forBill(),
	}}
	for _, module := range linked.dependencies {
		components = append(components, component(linked.compiled(module), linked.licenses[module.Path]))
	}
	references := make([]string, len(components))
	for i := range components {
		references[i] = components[i].BOMRef
	}
	bill.Components = &components
	bill.Dependencies = &[]cdx.Dependency{{Ref: subject.BOMRef, Dependencies: &references}}
	var buffer bytes.Buffer
	err := cdx.NewBOMEncoder(&buffer, cdx.BOMFileFormatJSON).SetPretty(true).Encode(bill)
	return buffer.Bytes(), err
}

// compiled returns the module that was compiled in place of another one, or else the module itself. A folder of the program's
// repository has no version of its own, and its path is not the path of a module.
func (m *modules) compiled(module *debug.Module) *debug.Module {
	if module.Replace != nil && strings.HasPrefix(module.Replace.Path, ".") {
		return &debug.Module{Path: module.Path, Version: m.ownVersion}
	}
	return cmp.Or(module.Replace, module)
}

// component returns the entry of a module in the bill.
func component(module *debug.Module, license moduleLicense) cdx.Component {
	address := "pkg:golang/" + module.Path + "@" + module.Version
	entry := cdx.Component{
		BOMRef: address, Type: cdx.ComponentTypeLibrary, Name: module.Path, Version: module.Version, PackageURL: address,
		Licenses: license.forBill(),
	}
	// The hash in go.sum covers all files of the module: "h1:" and the base64 of a SHA-256.
	if sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(module.Sum, "h1:")); err == nil && len(sum) > 0 {
		entry.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(sum)}}
	}
	return entry
}
