package index_test

import (
	"slices"
	"strings"
	"testing"

	"open-cluster-management.io/interlock/pkg/offline/index"
)

// fluid is an add-on with a default AddOnTemplate, and another one for the clusters of a Placement.
const fluid = `---
apiVersion: addon.open-cluster-management.io/v1alpha1
kind: ClusterManagementAddOn
metadata: {name: cache, annotations: {dependency.addon.open-cluster-management.io/version: 1.0.0}}
spec:
  supportedConfigs:
  - {group: addon.open-cluster-management.io, resource: addontemplates, defaultConfig: {name: cache-default}}
  installStrategy:
    type: Placements
    placements:
    - name: gke
      namespace: default
      configs: [{group: addon.open-cluster-management.io, resource: addontemplates, name: cache-gke}]
`

// fluidBeta is the same add-on in v1beta1.
var fluidBeta = strings.NewReplacer("v1alpha1", "v1beta1", "supportedConfigs", "defaultConfigs",
	"defaultConfig: {name: cache-default}", "name: cache-default").Replace(fluid)

// Every AddOnTemplate that a ClusterManagementAddOn names has to be in the release: without it, the add-on does not work on the clusters
// that use it.
func TestEveryNamedTemplateIsInTheRelease(t *testing.T) {
	defaultTemplate, gke := templateOf("cache-default", "cache", "1.0.0"), templateOf("cache-gke", "cache", "1.1.0")
	noDefault := strings.Replace(fluid, ", defaultConfig: {name: cache-default}", "", 1)
	for name, test := range map[string]struct {
		manifests, templates string
		wantErr              string
	}{
		"all":               {fluid + defaultTemplate + gke, "cache-default cache-gke", ""},
		"all, in v1beta1":   {fluidBeta + gke + defaultTemplate, "cache-default cache-gke", ""},
		"without a default": {noDefault + gke, "cache-gke", ""},
		"another template":  {fluid + defaultTemplate + gke + templateOf("old", "cache", "0.9.0"), "cache-default cache-gke", ""},
		"one for a Placement lacks": {
			fluid + defaultTemplate, "", `"cache-gke", which its ClusterManagementAddOn names for the Placement default/gke`,
		},
		"the default lacks": {fluid + gke, "", `"cache-default", which its ClusterManagementAddOn names as the default`},
	} {
		t.Run(name, func(t *testing.T) {
			entries, err := index.Build(objects(t, map[string]string{"a.yaml": test.manifests}), "x", nil)
			if (err != nil) != (test.wantErr != "") || err != nil && !strings.Contains(err.Error(), test.wantErr) {
				t.Fatalf("got %v, want %q", err, test.wantErr)
			}
			if err == nil && templatesIn(&entries[0]) != test.templates {
				t.Errorf("it has %s", templatesIn(&entries[0]))
			}
		})
	}
}

func templatesIn(entry *index.Entry) string {
	var names []string
	for _, object := range entry.Manifests {
		if object["kind"] == "AddOnTemplate" {
			names = append(names, object["metadata"].(map[string]any)["name"].(string)) //nolint:forcetypeassert // templateOf writes it
		}
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// The default AddOnTemplate decides on the version and the dependencies. The lock mentions templates that declare others.
func TestTheDefaultTemplateCounts(t *testing.T) {
	declaring := strings.Replace(templateOf("cache-gke", "cache", "1.0.0"), "labels:",
		"annotations: {dependency.addon.open-cluster-management.io/dependencies: '[{name: store}]'}, labels:", 1)
	entries := entriesOf(t, fluid+templateOf("cache-default", "cache", "1.0.0")+declaring)
	lock, err := index.Resolve(entries, wishesOf(t, "addOns: [{name: cache}]"))
	if err != nil {
		t.Fatal(err)
	}
	want := "cache 1.0.0: its AddOnTemplate cache-gke, which a Placement names and which declares other dependencies, does not run there"
	if got := lock.ClusterKinds[0].Assumptions; len(got) != 1 || got[0] != want {
		t.Errorf("got %q", got)
	}
}
