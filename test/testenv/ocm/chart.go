package ocm

import (
	"fmt"
	"path"
	"slices"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// bootstrapTemplates are the account that managed clusters register with.
var bootstrapTemplates = []string{"bootstrap_sa.yaml", "bootstrap_cluster_role.yaml", "bootstrap_sa_cluster_role_binding.yaml"}

// renderChart renders templates of OCM's chart with its default values, and with
// bootstrapTemplates enabled.
func renderChart(folder string, templates ...string) ([]*unstructured.Unstructured, error) {
	chart, err := loader.LoadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", folder, err)
	}
	// The other templates may need values that have no default.
	chart.Templates = slices.DeleteFunc(chart.Templates, func(file *common.File) bool {
		name := path.Base(file.Name)
		return name != "_helpers.tpl" && !slices.Contains(templates, name)
	})
	values, err := util.ToRenderValues(chart, map[string]any{"createBootstrapSA": true},
		common.ReleaseOptions{Name: chart.Name(), Namespace: operatorNamespace, IsInstall: true}, nil)
	if err != nil {
		return nil, fmt.Errorf("values of %s: %w", folder, err)
	}
	rendered, err := engine.Render(chart, values)
	if err != nil {
		return nil, err
	}
	var objects []*unstructured.Unstructured
	for _, name := range templates {
		text, ok := rendered[path.Join(chart.Name(), "templates", name)]
		if !ok {
			return nil, fmt.Errorf("%s has no template %s", folder, name)
		}
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(text), &object.Object); err != nil {
			return nil, fmt.Errorf("%s in %s: %w", name, folder, err)
		}
		objects = append(objects, object)
	}
	return objects, nil
}
