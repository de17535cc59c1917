package index

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

func TestConfigures(t *testing.T) {
	config := &unstructured.Unstructured{}
	config.SetNamespace("d")
	config.SetName("settings")
	const resource = "group: addon.open-cluster-management.io, resource: addondeploymentconfigs"
	for name, c := range map[string]struct {
		spec                          string
		configures, hasConfigurations bool
	}{
		"nothing":                {"{}", false, false},
		"supported only":         {"{supportedConfigs: [{" + resource + "}]}", false, false},
		"the default":            {"{supportedConfigs: [{" + resource + ", defaultConfig: {namespace: d, name: settings}}]}", true, true},
		"the default of v1beta1": {"{defaultConfigs: [{" + resource + ", namespace: d, name: settings}]}", true, true},
		"that of a Placement": {
			"{installStrategy: {placements: [{name: p}, {name: q, configs: [{" + resource + ", namespace: d, name: settings}]}]}}", true, true,
		},
		"another name":      {"{defaultConfigs: [{" + resource + ", namespace: d, name: other}]}", false, true},
		"another namespace": {"{defaultConfigs: [{" + resource + ", namespace: e, name: settings}]}", false, true},
		"a template": {
			"{defaultConfigs: [{group: addon.open-cluster-management.io, resource: addontemplates, namespace: d, name: settings}]}", false, false,
		},
		"another group": {
			"{defaultConfigs: [{group: example.com, resource: addondeploymentconfigs, namespace: d, name: settings}]}", false, false,
		},
		"no list at all": {"{defaultConfigs: 1, installStrategy: {placements: [1]}}", false, false},
	} {
		var spec map[string]any
		if err := yaml.Unmarshal([]byte(c.spec), &spec); err != nil {
			t.Fatal(err)
		}
		registration := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
		if got := Configures(config, registration); got != c.configures {
			t.Errorf("%s: configures: %t", name, got)
		}
		if got := HasConfigurations(registration); got != c.hasConfigurations {
			t.Errorf("%s: has any: %t", name, got)
		}
	}
}
