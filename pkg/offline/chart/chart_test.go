package chart

import (
	"archive/tar"
	"compress/gzip"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// folder writes a chart. A line "== PATH" begins a file.
func folder(t *testing.T, files string) string {
	t.Helper()
	root := filepath.Join(t.TempDir(), "gateway")
	for _, file := range strings.Split(files, "== ")[1:] {
		name, content, _ := strings.Cut(file, "\n")
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// archived packs a chart like helm package.
func archived(t *testing.T, root string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "gateway.tgz")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	packed := gzip.NewWriter(file)
	defer packed.Close()
	archive := tar.NewWriter(packed)
	defer archive.Close()
	if err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(filepath.Dir(root), path)
		if err := archive.WriteHeader(&tar.Header{Name: filepath.ToSlash(name), Mode: 0o600, Size: int64(len(content))}); err != nil {
			return err
		}
		_, err = archive.Write(content)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return path
}

const gateway = `== Chart.yaml
apiVersion: v2
name: gateway
version: 1.4.0
== values.yaml
strategy: Manual
== templates/_names.tpl
{{- define "gateway.name" -}}cluster-gateway{{- end -}}
== templates/NOTES.txt
Thank you.
== templates/addon.yaml
apiVersion: addon.open-cluster-management.io/v1alpha1
kind: ClusterManagementAddOn
metadata: {name: {{ include "gateway.name" . }}}
spec: {installStrategy: {type: {{ .Values.strategy }}}}
---
# nothing
== crds/crd.yaml
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gateways.example.com}
`

const dependency = `== charts/b/Chart.yaml
apiVersion: v2
name: b
version: 1.0.0
== charts/b/templates/b.yaml
apiVersion: v1
kind: ConfigMap
metadata: {name: b}
`

// TestRender tests the cases of Helm's documentation of charts and their dependencies. Their names are from that page.
func TestRender(t *testing.T) {
	depends := func(dependency string) string {
		return strings.Replace(gateway, "version: 1.4.0\n", "version: 1.4.0\ndependencies:\n- "+dependency+"\n", 1)
	}
	const own = "gateway 1.4.0: CustomResourceDefinition gateways.example.com, ClusterManagementAddOn cluster-gateway"
	for name, c := range map[string]struct{ files, want string }{
		"a chart":                 {gateway, own},
		"a dependency in charts/": {depends("{name: b, version: 1.0.0}") + dependency, "ConfigMap b"},
		"a dependency that a condition leaves": {
			depends("{name: b, version: 1.0.0, condition: b.enabled}") + dependency + "== values.yaml\nstrategy: Manual\nb: {enabled: false}\n", own,
		},
		"a dependency that is missing in charts/": {
			depends("{name: b, version: 1.0.0, repository: 'https://helm-example.com/charts'}"),
			"found in Chart.yaml, but missing in charts/ directory: b: run helm dependency update",
		},
		"a local file dependency that is not updated": {
			depends("{name: b, version: 1.0.0, repository: 'file://../b'}"), "but missing in charts/ directory: b",
		},
		"a dependency without a name":  {depends("{version: 1.0.0}"), "missing in charts/ directory: "},
		"no version":                   {strings.Replace(gateway, "version: 1.4.0\n", "", 1), "validation: chart.metadata.version is required"},
		"no Chart.yaml":                {"== values.yaml\na: 1\n", "there is no Chart.yaml in it"},
		"a template that is none":      {gateway + "== templates/broken.yaml\n{{ .Values.strategy", "unclosed action"},
		"a value that is required":     {gateway + "== templates/required.yaml\n{{ required \"name it\" .Values.none }}\n", "name it"},
		"a manifest that is no object": {gateway + "== templates/text.yaml\nword\n", "gateway/templates/text.yaml: "},
	} {
		t.Run(name, func(t *testing.T) {
			root := folder(t, c.files)
			got := describe(Render(root))
			if !strings.Contains(got, c.want) {
				t.Errorf("got %s\nwant %s", got, c.want)
			}
			if packed := describe(Render(archived(t, root))); strings.HasPrefix(got, "gateway") && packed != got {
				t.Errorf("as an archive: %s", packed)
			}
		})
	}
	if got := describe(Render(filepath.Join(t.TempDir(), "none"))); !strings.Contains(got, "there is no file or folder") {
		t.Errorf("got %s", got)
	}
}

func describe(rendered *Rendered, err error) string {
	if err != nil {
		return err.Error()
	}
	var objects []string
	for _, object := range rendered.Objects {
		objects = append(objects, object.GetKind()+" "+object.GetName())
	}
	return rendered.Name + " " + rendered.Version + ": " + strings.Join(objects, ", ")
}
