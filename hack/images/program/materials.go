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

// modules are what a binary was linked from, as Go wrote it into the binary.
type modules struct {
	goVersion string
	all       []*debug.Module
	// own is the version of the modules in the program's own repository.
	own string
	// licenses are their texts, by the path of the module; "std" has those of Go.
	licenses map[string]moduleLicense
}

func linkedInto(ctx context.Context, p Program, binary string) (*modules, error) {
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
	return &modules{goVersion: strings.TrimPrefix(info.GoVersion, "go"), all: info.Deps, own: goVersion(p.Version), licenses: licenses}, nil
}

// goVersion is a version as Go writes it, with v. Charts and images have none.
func goVersion(version string) string {
	if number, _, ok := strings.Cut(version, "."); ok {
		if _, err := strconv.Atoi(number); err == nil {
			return "v" + version
		}
	}
	return version
}

// BillOfMaterials lists what the binary was linked from, as that of a subject. It has
// neither time nor serial number: the same binary has the same bill.
func (b *Binary) BillOfMaterials(subject cdx.Component) ([]byte, error) {
	linked, bill := b.linked, cdx.NewBOM()
	subject.Properties = &[]cdx.Property{{Name: "platform", Value: b.Platform.String()}}
	bill.Metadata = &cdx.Metadata{Component: &subject}
	components := []cdx.Component{{
		BOMRef: "std", Type: cdx.ComponentTypeLibrary, Name: "std",
		Version: linked.goVersion, PackageURL: "pkg:golang/std@" + linked.goVersion, Licenses: linked.licenses["std"].forBill(),
	}}
	for _, module := range linked.all {
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

// compiled is the module that was compiled in place of another one, or else the module itself. A folder of the program's
// repository has no version of its own, and its path is no module's.
func (m *modules) compiled(module *debug.Module) *debug.Module {
	if module.Replace != nil && strings.HasPrefix(module.Replace.Path, ".") {
		return &debug.Module{Path: module.Path, Version: m.own}
	}
	return cmp.Or(module.Replace, module)
}

// component is a module as a bill of materials has it.
func component(module *debug.Module, license moduleLicense) cdx.Component {
	address := "pkg:golang/" + module.Path + "@" + module.Version
	made := cdx.Component{
		BOMRef: address, Type: cdx.ComponentTypeLibrary, Name: module.Path, Version: module.Version, PackageURL: address,
		Licenses: license.forBill(),
	}
	// go.sum's hash, of all files of the module: "h1:" and the base64 of a SHA-256.
	if sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(module.Sum, "h1:")); err == nil && len(sum) > 0 {
		made.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(sum)}}
	}
	return made
}
