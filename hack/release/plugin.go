package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"text/template"

	cdx "github.com/CycloneDX/cyclonedx-go"

	"open-cluster-management.io/interlock/hack/images/archive"
	"open-cluster-management.io/interlock/hack/images/program"
)

// krew is the template of the plugin's manifest for krew's index.
//
//go:embed krew.yaml.tmpl
var krew string

// krewFile is the manifest. krew's naming guide wants a vendor's prefix, and no general name such as addon.
const krewFile = "krew-ocm-addon.yaml"

// download is the plugin for one platform, in the terms of krew's manifest.
type download struct {
	System, Architecture, Program, File, URL, SHA256 string
}

// writePlugin writes an archive of the plugin for each platform, with its bill of
// materials, and krew's manifest, which lists all archives.
func (o *order) writePlugin(ctx context.Context) error {
	var downloads []download
	for _, platform := range o.pluginPlatforms {
		fmt.Printf("release: %s for %s\n", plugin, platform)
		archived, err := o.writePluginFor(ctx, platform)
		if err != nil {
			return fmt.Errorf("%s for %s: %w", plugin, platform, err)
		}
		downloads = append(downloads, archived)
	}
	parsed, err := template.New("krew").Parse(krew)
	if err != nil {
		return err
	}
	var manifest bytes.Buffer
	if err := parsed.Execute(&manifest, map[string]any{"Version": o.tag, "Homepage": o.source, "Downloads": downloads}); err != nil {
		return err
	}
	return o.write(krewFile, manifest.String())
}

func (o *order) writePluginFor(ctx context.Context, platform program.Platform) (download, error) {
	binary, err := o.program(plugin).Build(ctx, platform)
	if err != nil {
		return download{}, err
	}
	bill, err := binary.BillOfMaterials(cdx.Component{
		BOMRef: plugin, Type: cdx.ComponentTypeApplication, Name: plugin, Version: o.plain,
	})
	if err != nil {
		return download{}, err
	}
	made := download{System: platform.System, Architecture: platform.Architecture, Program: plugin}
	name, write := fmt.Sprintf("%s_%s_%s", plugin, made.System, made.Architecture), archive.TarGz
	made.File = name + ".tar.gz"
	if platform.System == "windows" {
		made.Program, made.File, write = plugin+".exe", name+".zip", archive.Zip
	}
	files, err := o.pluginFiles(made, binary)
	if err != nil {
		return download{}, err
	}
	var content bytes.Buffer
	if err := write(&content, files, o.created()); err != nil {
		return download{}, err
	}
	sum := sha256.Sum256(content.Bytes())
	made.SHA256, made.URL = hex.EncodeToString(sum[:]), made.File
	if o.downloads != "" {
		made.URL = o.downloads + "/" + made.File
	}
	if err := o.write(made.File, content.String()); err != nil {
		return download{}, err
	}
	return made, o.write(name+".cdx.json", string(bill))
}

// pluginFiles returns the files of an archive: the program, the script by which kubectl
// completes it, Interlock's license in the place that krew requires, and the licenses of all
// linked modules.
func (o *order) pluginFiles(target download, binary *program.Binary) ([]archive.File, error) {
	complete := "kubectl_complete-addon"
	if target.System == "windows" {
		complete += ".cmd"
	}
	files := []archive.File{{Name: target.Program, Mode: 0o755, Content: binary.Content}}
	for _, read := range []struct {
		path string
		mode fs.FileMode
	}{{"cmd/kubectl-addon/" + complete, 0o755}, {"LICENSE", 0o644}} {
		content, err := os.ReadFile(filepath.Join(o.repository, read.path))
		if err != nil {
			return nil, err
		}
		files = append(files, archive.File{Name: filepath.Base(read.path), Mode: read.mode, Content: content})
	}
	for _, text := range binary.Licenses() {
		text.Mode = 0o644 // Windows does not delete files that are read-only
		files = append(files, text)
	}
	return files, nil
}
