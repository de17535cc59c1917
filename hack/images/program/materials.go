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
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// modules are the modules in a binary, from the build information that Go wrote into it.
type modules struct {
	goVersion    string
	dependencies []*debug.Module
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
	return &modules{goVersion: strings.TrimPrefix(info.GoVersion, "go"), dependencies: info.Deps, licenses: licenses}, nil
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
		components = append(components, component(module, linked.licenses[module.Path]))
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

// component returns the entry of a module in the bill. A replaced module has the entry of its replacement.
func component(module *debug.Module, license moduleLicense) cdx.Component {
	module = cmp.Or(module.Replace, module)
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
