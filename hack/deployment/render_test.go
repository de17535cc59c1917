package deployment

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// objects are Kubernetes objects by kind, namespace and name.
type objects map[string]object

func (o objects) add(t *testing.T, document string) {
	t.Helper()
	var parsed object
	if err := yaml.UnmarshalStrict([]byte(document), &parsed); err != nil {
		t.Fatalf("%v in\n%s", err, document)
	}
	if len(parsed) == 0 {
		return
	}
	metadata, _ := parsed["metadata"].(object)
	kind, _ := parsed["kind"].(string)
	name, _ := metadata["name"].(string)
	space, _ := metadata["namespace"].(string)
	key := strings.Join([]string{kind, space, name}, "/")
	if o[key] != nil {
		t.Errorf("%s is there twice", key)
	}
	o[key] = parsed
}

func (o objects) keys() []string { return slices.Sorted(maps.Keys(o)) }

// except returns the objects without those that have these keys.
func (o objects) except(keys ...string) objects {
	rest := maps.Clone(o)
	for _, key := range keys {
		delete(rest, key)
	}
	return rest
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
	parsed := objects{}
	for _, document := range documents(string(content)) {
		// kustomize treats these kinds as namespaced. The API server drops their namespace.
		if strings.Contains(document, "kind: ValidatingAdmissionPolicy") {
			document = strings.Replace(document, "  namespace: "+namespace+"\n", "", 1)
		}
		// The bases have the name of a registry, which overlays replace.
		parsed.add(t, strings.ReplaceAll(document, "quay.io/open-cluster-management/interlock-", testPrefix))
	}
	return parsed
}

// chart returns the objects of a release, and its hooks, which run before it is deleted.
func chart(t *testing.T, values string) (release, hooks objects) {
	t.Helper()
	installed, runs, err := Render(namespace, values)
	if err != nil {
		t.Fatal(err)
	}
	release, hooks = objects{}, objects{}
	for _, document := range installed {
		release.add(t, document)
	}
	for _, document := range runs {
		hooks.add(t, document)
	}
	return release, hooks
}

// neutral removes Helm's own labels and annotations from an object.
func neutral(target object) {
	metadata, _ := target["metadata"].(object)
	labels, _ := metadata["labels"].(object)
	for _, label := range []string{
		"app.kubernetes.io/instance", "app.kubernetes.io/version", "app.kubernetes.io/managed-by", "helm.sh/chart",
	} {
		delete(labels, label)
	}
	annotations, _ := metadata["annotations"].(object)
	for _, annotation := range []string{"helm.sh/hook", "helm.sh/hook-weight", "helm.sh/hook-delete-policy", "helm.sh/resource-policy"} {
		delete(annotations, annotation)
	}
	if len(annotations) == 0 {
		delete(metadata, "annotations")
	}
}
