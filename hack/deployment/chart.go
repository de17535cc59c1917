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
	// testPrefix is where the images are, unless values say otherwise: the chart has no default.
	testPrefix = "interlock.test/"
)

type object = map[string]any

// Render renders the chart for a namespace with values, as YAML, on top of its
// own. It returns the documents that a release consists of, and those that Helm
// runs before it deletes the release. The chart is found from this module's folder.
func Render(namespace, values string) (release, hooks []string, err error) {
	chart, all, err := load(namespace, values)
	if err != nil {
		return nil, nil, err
	}
	rendered, err := engine.Render(chart, all)
	if err != nil {
		return nil, nil, err
	}
	for _, file := range slices.Sorted(maps.Keys(rendered)) {
		if !strings.HasSuffix(file, ".yaml") {
			continue
		}
		for _, document := range documents(rendered[file]) {
			if strings.Contains(document, "helm.sh/hook") {
				hooks = append(hooks, document)
			} else {
				release = append(release, document)
			}
		}
	}
	return release, hooks, nil
}

// load returns the chart, and all that its templates read.
func load(namespace, values string) (ci.Charter, common.Values, error) {
	chart, err := loader.Load(chartFolder)
	if err != nil {
		return nil, nil, err
	}
	given := object{}
	if err := yaml.UnmarshalStrict([]byte(values), &given); err != nil {
		return nil, nil, err
	}
	images, _ := given["images"].(object)
	given["images"] = util.CoalesceTables(maps.Clone(images), object{"prefix": testPrefix})
	all, err := util.ToRenderValues(chart, given, common.ReleaseOptions{Name: "interlock", Namespace: namespace, IsInstall: true}, nil)
	return chart, all, err
}

// documents splits YAML at the lines that separate documents.
func documents(content string) []string {
	return strings.Split("\n"+content, "\n---")
}
