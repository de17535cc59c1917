package docs

import (
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
)

// variableName is the pattern of OCM's CRD of AddOnDeploymentConfigs.
var variableName = regexp.MustCompile("^[a-zA-Z_][_a-zA-Z0-9]*$")

// The example sets variables that its dependency in the stack really has.
func TestSettingsPageSetsVariablesThatExist(t *testing.T) {
	_, block, _ := strings.Cut(read(t, "docs/settings.md"), "```yaml\n")
	block, _, _ = strings.Cut(block, "```")
	var example addonv1alpha1.ClusterManagementAddOn
	if err := yaml.UnmarshalStrict([]byte(block), &example); err != nil {
		t.Fatal(err)
	}
	declared := declaration.Read(&example)
	if len(declared.Problems) > 0 || len(declared.Edges) != 1 || len(declared.Edges[0].Settings) == 0 {
		t.Fatalf("%+v", declared)
	}
	edge := declared.Edges[0]
	configurable, deployed := false, ""
	for document := range strings.SplitSeq(read(t, "docs/examples/stack/stack.yaml"), "\n---\n") {
		if !strings.Contains(document, "\n  name: "+edge.AddOn+"\n") {
			continue
		}
		configurable = configurable || strings.Contains(document, "resource: addondeploymentconfigs}")
		if strings.Contains(document, "\nkind: AddOnTemplate\n") {
			deployed = document
		}
	}
	if !configurable {
		t.Errorf("%s takes no AddOnDeploymentConfig", edge.AddOn)
	}
	for _, variable := range edge.Dependency.Settings.Variables {
		if !variableName.MatchString(variable.Name) || !strings.Contains(deployed, "{{"+variable.Name+"}}") {
			t.Errorf("%s has no variable %s", edge.AddOn, variable.Name)
		}
	}
}
