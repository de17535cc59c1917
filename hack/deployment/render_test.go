package deployment

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

const (
	chartFolder = "../../deploy/charts/interlock"
	namespace   = "interlock-system"
)

type object = map[string]any

// objects are Kubernetes objects by kind, namespace and name.
type objects map[string]object

func (o objects) add(t *testing.T, document string) {
	t.Helper()
	var one object
	if err := yaml.UnmarshalStrict([]byte(document), &one); err != nil {
		t.Fatalf("%v in\n%s", err, document)
	}
	if len(one) == 0 {
		return
	}
	metadata, _ := one["metadata"].(object)
	kind, _ := one["kind"].(string)
	name, _ := metadata["name"].(string)
	space, _ := metadata["namespace"].(string)
	key := strings.Join([]string{kind, space, name}, "/")
	if o[key] != nil {
		t.Errorf("%s is there twice", key)
	}
	o[key] = one
}

func (o objects) keys() []string { return slices.Sorted(maps.Keys(o)) }

// without are the objects less those with the keys.
func (o objects) without(keys ...string) objects {
	rest := maps.Clone(o)
	for _, key := range keys {
		delete(rest, key)
	}
	return rest
}

// documents splits YAML at the lines that separate documents.
func documents(content string) []string {
	return strings.Split("\n"+content, "\n---")
}

// base builds a kustomization.
func base(t *testing.T, folder string) objects {
	t.Helper()
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), folder)
	if err != nil {
		t.Fatal(err)
	}
	content, err := built.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	found := objects{}
	for _, document := range documents(string(content)) {
		found.add(t, document)
	}
	return found
}

// render renders the chart with values on top of its own.
func render(values string) (map[string]string, error) {
	chart, err := loader.Load(chartFolder)
	if err != nil {
		return nil, err
	}
	given := object{}
	if err := yaml.UnmarshalStrict([]byte(values), &given); err != nil {
		return nil, err
	}
	all, err := util.ToRenderValues(chart, given, common.ReleaseOptions{Name: "interlock", Namespace: namespace, IsInstall: true}, nil)
	if err != nil {
		return nil, err
	}
	return engine.Render(chart, all)
}

// chart is what a release consists of, and hooks what runs before it is deleted.
func chart(t *testing.T, values string) (release, hooks objects) {
	t.Helper()
	rendered, err := render(values)
	if err != nil {
		t.Fatal(err)
	}
	release, hooks = objects{}, objects{}
	for file, content := range rendered {
		if !strings.HasSuffix(file, ".yaml") {
			continue
		}
		for _, document := range documents(content) {
			if strings.Contains(document, "helm.sh/hook") {
				hooks.add(t, document)
			} else {
				release.add(t, document)
			}
		}
	}
	return release, hooks
}

// neutral takes off an object what Helm's own labels and annotations say.
func neutral(one object) {
	metadata, _ := one["metadata"].(object)
	labels, _ := metadata["labels"].(object)
	for _, label := range []string{"app.kubernetes.io/instance", "app.kubernetes.io/version", "app.kubernetes.io/managed-by", "helm.sh/chart"} {
		delete(labels, label)
	}
	annotations, _ := metadata["annotations"].(object)
	for _, annotation := range []string{"helm.sh/hook", "helm.sh/hook-weight", "helm.sh/hook-delete-policy"} {
		delete(annotations, annotation)
	}
	if len(annotations) == 0 {
		delete(metadata, "annotations")
	}
}
