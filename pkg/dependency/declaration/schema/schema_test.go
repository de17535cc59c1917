package schema_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/yaml"

	"open-cluster-management.io/interlock/pkg/dependency/declaration/schema"
)

// A message names the field and the value, and explains the field.
func TestMessages(t *testing.T) {
	for declared, want := range map[string]string{
		"[]": "", "{}": "", "[{name: a, type: ~}]": "",
		"[{name: 5}]":                  `at[0].name: Invalid value: must be a string, which may need quotes, not 5`,
		"[~]":                          `at[0]: Invalid value: must be an object, not null`,
		"[{type: Optional}]":           `at[0].name: Required value: name is the name of the dependent add-on`,
		"[{name: ''}]":                 `at[0].name: Required value: name is the name of the dependent add-on`,
		"{ordering: Later}":            `at.ordering: Unsupported value: "Later": supported values: "None", "Install", "InstallAndUpgrade"`,
		"{requires: ~}":                `at: Invalid value: unknown field "requires"`,
		"[{name: a, addon: b}]":        `at[0]: Invalid value: unknown field "addon"; the field is "addOn"`,
		"[{name: a, on: Hub}]":         `at[0]: Invalid value: unknown field "true": YAML reads on, yes, off and no without quotes as`,
		"[{name: a, when: {}}]":        `at[0].when: Required value: set clusterSelector or expression`,
		"[{name: a, anyOf: [{}, {}]}]": `at[0].anyOf[1]: Duplicate value: {}`,
		"[{name: a, api: {kind: Pod, group: apps/v1}}]": `at[0].api.group: Invalid value: "apps/v1": ` +
			`group is the API group without its version, such as "apps"; empty is the core group`,
		"[{name: a, tolerate: 25h}]": `at[0].tolerate: Invalid value: "25h": must be a duration from 1s to 24h`,
		"[{name: a, removal: WithLastDependent}]": `at[0].removal: Invalid value: "WithLastDependent": ` +
			`removal WithLastDependent needs install Auto: only what Interlock has installed is removed`,
		"[{name: a, addOn: b, api: {kind: Pod}}]": `at[0].addOn: Invalid value: "b": ` +
			`an edge is on an add-on or on an API: set addOn or api, not both`,
		"{requirements: {claims: {a: ''}}}": `at.requirements.claims[a]: Required value: ` +
			`ClaimRequirement is a version range, or the exact value of the claim`,
	} {
		var content any
		if err := yaml.Unmarshal([]byte(declared), &content); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, err := range schema.Validate(schema.WithoutNulls(content), field.NewPath("at")) {
			got = append(got, err.Error())
		}
		if first := strings.Join(got, "\n"); !strings.Contains(first, want) || (want == "") != (first == "") {
			t.Errorf("%s: got %q, want %q", declared, first, want)
		}
	}
}
