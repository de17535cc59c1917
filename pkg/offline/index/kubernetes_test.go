package index_test

import (
	"strings"
	"testing"

	"open-cluster-management.io/interlock/pkg/offline/index"
)

// The kubeVersion of a chart is a requirement of its add-ons, wherever these declare.
func TestRequireKubernetes(t *testing.T) {
	const range131 = ">=1.31.0-0"
	byField := strings.Replace(manifestOf("a", "1.0.0", ""), "spec: {", "spec: {dependencies: [{name: b}], ", 1)
	template := strings.Replace(fluid, ", defaultConfig: {name: cache-default}", ", defaultConfig: {name: t}", 1)
	template = strings.NewReplacer("name: cache-gke", "name: t", "name: cache,", "name: a,").Replace(template) +
		strings.Replace(templateOf("t", "a", "1.0.0"), "labels:",
			"annotations: {dependency.addon.open-cluster-management.io/dependencies: '[{name: b}]'}, labels:", 1)
	for name, manifests := range map[string]string{
		"no declaration":              manifestOf("a", "1.0.0", ""),
		"a list":                      manifestOf("a", "1.0.0", "[{name: b}]"),
		"an object":                   manifestOf("a", "1.0.0", "{dependencies: [{name: b}]}"),
		"a range of its own":          manifestOf("a", "1.0.0", "{requirements: {kubernetes: '< 1.33'}}"),
		"a range with an alternative": manifestOf("a", "1.0.0", "{requirements: {kubernetes: '< 1.28 || < 1.33'}}"),
		"by field":                    byField,
		"in a template":               template,
	} {
		read := objects(t, map[string]string{"a.yaml": manifests})
		if err := index.RequireKubernetes(read, range131); err != nil {
			t.Fatal(err)
		}
		entries, err := index.Build(read, "x", nil)
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, entriesOf(t, manifestOf("b", "1.0.0", ""))...)
		own := map[bool]string{true: "1.33"}[strings.Contains(name, "range")]
		for kubernetes, want := range map[string]string{"1.30.4": "1.31", "1.31.2": "", "1.33.1": own} {
			_, err := index.Resolve(entries, wishesOf(t, "addOns: [{name: a}]\nclusterKinds: [{name: k, kubernetes: "+kubernetes+"}]"))
			if (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s, %s: got %v, want %q", name, kubernetes, err, want)
			}
		}
	}
	if err := index.RequireKubernetes(nil, "newest"); err == nil || !strings.Contains(err.Error(), "must be a range") {
		t.Error(err)
	}
}
