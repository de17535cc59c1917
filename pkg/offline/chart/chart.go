// Package chart renders Helm charts. Like helm template, it needs neither values nor a cluster.
package chart

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
	"helm.sh/helm/v4/pkg/engine"

	"open-cluster-management.io/interlock/pkg/dependency/declaration/versions"
	"open-cluster-management.io/interlock/pkg/files/fileerror"
	"open-cluster-management.io/interlock/pkg/offline/manifest"
)

// Rendered is a chart with its objects.
type Rendered struct {
	Name, Version string
	// VersionError is the reason for which no release can have the version, or nil.
	VersionError error
	// KubeVersion is the range of Kubernetes versions in Chart.yaml. It may be empty.
	KubeVersion string
	Objects     []manifest.Object
	// Dependencies has the names of the charts that it depends on.
	Dependencies []string
	// Random has the values that differ from one rendering to the next one. Timed has the templates that read the time.
	Random []Random
	Timed  []string
	// usesRandom is true if a file of the chart mentions a function with a random result.
	usesRandom bool
}

// Render renders the chart in a folder or an archive, with its own values. It renders it again, to find the values that are random.
func Render(chartPath string) (*Rendered, error) {
	rendered, err := renderOnce(chartPath)
	if err != nil {
		return nil, err
	}
	for n := 1; n < rendered.renderings(n); n++ {
		again, err := renderOnce(chartPath)
		if err != nil {
			return nil, err
		}
		rendered.addRandom(randomValues(rendered.Objects, again.Objects))
	}
	return rendered, nil
}

func renderOnce(chartPath string) (*Rendered, error) {
	info, err := os.Stat(chartPath)
	if err != nil {
		return nil, fileerror.Reading(chartPath, err)
	}
	if _, err := os.Stat(filepath.Join(chartPath, "Chart.yaml")); info.IsDir() && err != nil {
		return nil, fmt.Errorf("%s: there is no Chart.yaml in it: name the folder of a chart, or its archive", chartPath)
	}
	loaded, err := loader.Load(chartPath)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", chartPath, err)
	}
	if loaded.Metadata.Type == "library" {
		return nil, fmt.Errorf("%s: it is a library chart, which has no manifests of its own: name a chart that uses it", chartPath)
	}
	rendered := &Rendered{
		Name:         loaded.Name(),
		Version:      loaded.Metadata.Version,
		VersionError: versionError(loaded),
		KubeVersion:  loaded.Metadata.KubeVersion,
		Timed:        templatesWithTime(loaded),
		usesRandom:   usesRandom(loaded),
	}
	for _, dependency := range loaded.Metadata.Dependencies {
		rendered.Dependencies = append(rendered.Dependencies, dependency.Name)
	}
	if missing := missingIn(loaded); len(missing) > 0 {
		return nil, fmt.Errorf("%s: found in Chart.yaml, but missing in charts/ directory: %s: run helm dependency update",
			chartPath, strings.Join(missing, ", "))
	}
	content, err := render(loaded)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", chartPath, err)
	}
	for _, name := range slices.Sorted(maps.Keys(content)) {
		objects, err := manifest.Decode(name, content[name])
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", chartPath, name, err)
		}
		for _, object := range objects {
			rendered.Objects = append(rendered.Objects, object.WithoutLines())
		}
	}
	return rendered, nil
}

// versionError returns the reason for which no release can have the version of a chart, or nil. YAML reads an unquoted 1.10 as the number 1.1.
func versionError(loaded *chartv2.Chart) error {
	const file = "Chart.yaml"
	var metadata struct {
		Version yaml.Node `yaml:"version"`
	}
	for _, raw := range loaded.Raw {
		if raw.Name == file {
			_ = yaml.Unmarshal(raw.Data, &metadata) // the loader has read it
		}
	}
	if written := metadata.Version; written.Tag == "!!float" || written.Tag == "!!int" {
		return fmt.Errorf("%s: line %d: version: %s is read as a number, %s: write three numbers, such as \"1.10.0\", and put them in quotes",
			file, written.Line, written.Value, loaded.Metadata.Version)
	}
	if _, err := versions.ParseRelease(loaded.Metadata.Version); err != nil {
		return fmt.Errorf("%s: version: %w", file, err)
	}
	return nil
}

// missingIn returns the charts that a chart depends on and does not contain.
func missingIn(loaded *chartv2.Chart) []string {
	var missing []string
	for _, dependency := range loaded.Metadata.Dependencies {
		isDependency := func(contained *chartv2.Chart) bool { return contained.Name() == dependency.Name }
		if !slices.ContainsFunc(loaded.Dependencies(), isDependency) {
			missing = append(missing, dependency.Name)
		}
	}
	return missing
}

// render returns the contents of the manifests, by the names of their templates.
func render(loaded *chartv2.Chart) (map[string][]byte, error) {
	content := map[string][]byte{}
	for _, crd := range loaded.CRDObjects() {
		content[crd.Name] = crd.File.Data
	}
	noValues := common.Values{}
	if err := chartutil.ProcessDependencies(loaded, noValues); err != nil {
		return nil, err
	}
	options := common.ReleaseOptions{Name: loaded.Name(), Namespace: "default", Revision: 1, IsInstall: true}
	values, err := util.ToRenderValues(loaded, noValues, options, nil)
	if err != nil {
		return nil, err
	}
	files, err := engine.Render(loaded, values)
	if err != nil {
		return nil, err
	}
	for name, file := range files {
		if base := path.Base(name); base != "NOTES.txt" && !strings.HasPrefix(base, "_") {
			content[name] = []byte(file)
		}
	}
	return content, nil
}
