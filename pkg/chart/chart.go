// Package chart renders Helm charts, as helm template does without values and without a cluster.
package chart

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
	"helm.sh/helm/v4/pkg/engine"

	"open-cluster-management.io/interlock/pkg/manifest"
)

// Rendered is a chart with its objects.
type Rendered struct {
	Name, Version string
	Objects       []manifest.Object
	// Dependencies are the names of the charts that it depends on.
	Dependencies []string
}

// Render renders the chart in a folder or an archive, with its own values.
func Render(from string) (*Rendered, error) {
	loaded, err := loader.Load(from)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", from, err)
	}
	rendered := &Rendered{Name: loaded.Name(), Version: loaded.Metadata.Version}
	for _, one := range loaded.Metadata.Dependencies {
		rendered.Dependencies = append(rendered.Dependencies, one.Name)
	}
	if missing := missingIn(loaded); len(missing) > 0 {
		return nil, fmt.Errorf("%s: found in Chart.yaml, but missing in charts/ directory: %s: run helm dependency update",
			from, strings.Join(missing, ", "))
	}
	content, err := render(loaded)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", from, err)
	}
	for _, name := range slices.Sorted(maps.Keys(content)) {
		objects, err := manifest.Decode(name, content[name])
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", from, name, err)
		}
		rendered.Objects = append(rendered.Objects, objects...)
	}
	return rendered, nil
}

// missingIn are the charts that a chart depends on, and does not contain.
func missingIn(loaded *chartv2.Chart) (missing []string) {
	for _, one := range loaded.Metadata.Dependencies {
		if !slices.ContainsFunc(loaded.Dependencies(), func(other *chartv2.Chart) bool { return other.Name() == one.Name }) {
			missing = append(missing, one.Name)
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
	none := common.Values{}
	if err := chartutil.ProcessDependencies(loaded, none); err != nil {
		return nil, err
	}
	options := common.ReleaseOptions{Name: loaded.Name(), Namespace: "default", Revision: 1, IsInstall: true}
	values, err := util.ToRenderValues(loaded, none, options, nil)
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
