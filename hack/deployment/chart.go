package deployment

import (
	"maps"
	"slices"
	"strings"

	ci "helm.sh/helm/v4/pkg/chart"
	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	"sigs.k8s.io/yaml"
)

const (
	chartFolder = "../../deploy/charts/interlock"
	namespace   = "interlock-system"
	// testPrefix is the prefix of the images, unless values set one. The chart has no default.
	testPrefix = "interlock.test/"
)

type object = map[string]any

// Render renders the chart for a namespace. values is YAML, and overrides values of the
// chart. It returns the documents of a release, and the hooks that Helm runs before it
// deletes the release. The path of the chart is relative to this module's folder.
func Render(namespace, values string) (release, hooks []string, err error) {
	chart, renderValues, err := load(namespace, values)
	if err != nil {
		return nil, nil, err
	}
	rendered, err := engine.Render(chart, renderValues)
	if err != nil {
		return nil, nil, err
	}
	for _, file := range slices.Sorted(maps.Keys(rendered)) {
		if !strings.HasSuffix(file, ".yaml") {
			continue
		}
		for _, document := range documents(rendered[file]) {
			switch {
			case strings.Contains(document, "helm.sh/hook: test"): // only helm test creates these
			case strings.Contains(document, "helm.sh/hook"):
				hooks = append(hooks, document)
			default:
				release = append(release, document)
			}
		}
	}
	return release, hooks, nil
}

// load returns the chart, and the values for its templates.
func load(namespace, values string) (ci.Charter, common.Values, error) {
	chart, err := loader.Load(chartFolder)
	if err != nil {
		return nil, nil, err
	}
	overrides := object{}
	if err := yaml.UnmarshalStrict([]byte(values), &overrides); err != nil {
		return nil, nil, err
	}
	images, _ := overrides["images"].(object)
	overrides["images"] = util.CoalesceTables(maps.Clone(images), object{"prefix": testPrefix})
	release := common.ReleaseOptions{Name: "interlock", Namespace: namespace, IsInstall: true}
	renderValues, err := util.ToRenderValues(chart, overrides, release, nil)
	return chart, renderValues, err
}

// documents splits YAML at the lines that separate documents.
func documents(content string) []string {
	return strings.Split("\n"+content, "\n---")
}
