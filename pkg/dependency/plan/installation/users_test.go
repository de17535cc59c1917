package installation_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/plan/installation"
	"open-cluster-management.io/interlock/test/fixture"
)

const withLast = "install: Auto, removal: WithLastDependent"

// registered are registrations by name, base and other among them.
func registered(t *testing.T, specs map[string]string) []addonv1alpha1.ClusterManagementAddOn {
	t.Helper()
	addOns := []addonv1alpha1.ClusterManagementAddOn{}
	for _, name := range []string{"base", "leaf", "other"} {
		spec := specs[name]
		if spec == "" {
			spec = "{}"
		}
		addOns = append(addOns, fixture.Specified(t, name, spec))
	}
	return addOns
}

func TestUsersAndRemovable(t *testing.T) {
	for _, test := range []struct {
		name            string
		specs           map[string]string
		users, removing string
	}{
		{"none", nil, "", ""},
		{"kept by default", map[string]string{"leaf": `{dependencies: [{name: base, install: Auto}]}`}, "leaf", ""},
		{"kept", map[string]string{"leaf": `{dependencies: [{name: base, install: Auto, removal: Keep}]}`}, "leaf", ""},
		{"removed", map[string]string{"leaf": `{dependencies: [{name: base, ` + withLast + `}]}`}, "leaf", "base"},
		{"by an Optional edge", map[string]string{"leaf": `{dependencies: [{name: base, type: Optional, ` + withLast + `}]}`}, "leaf", "base"},
		{
			"an edge that installs nothing is only a user",
			map[string]string{"leaf": `{dependencies: [{name: base, ` + withLast + `}]}`, "other": `{dependencies: [{name: base, type: Optional}]}`},
			"leaf other", "base",
		},
		{
			"as is one on versions only",
			map[string]string{
				"leaf":  `{dependencies: [{name: base, ` + withLast + `}]}`,
				"other": `{dependencies: [{name: base, type: IfInstalled, version: ">= 1"}]}`,
			},
			"leaf other", "base",
		},
		{
			"one that does not apply anywhere is a user",
			map[string]string{"leaf": `{dependencies: [{name: base, when: {expression: "false"}}]}`},
			"leaf", "",
		},
		{
			"as is one with alternatives",
			map[string]string{"leaf": `{dependencies: [{name: x, anyOf: [{addOn: base}, {addOn: other}]}]}`},
			"leaf", "",
		},
		{"a conflict is none", map[string]string{"leaf": `{dependencies: [{name: base, type: Conflicts}]}`}, "", ""},
		{
			"of two that install it, one keeps it",
			map[string]string{"leaf": `{dependencies: [{name: base, ` + withLast + `}]}`, "other": `{dependencies: [{name: base, install: Auto}]}`},
			"leaf other", "",
		},
		{
			"the provider of an API",
			map[string]string{"leaf": `{dependencies: [{name: t, api: {kind: Tunnel}, ` + withLast + `}]}`, "base": `{provides: [{kind: Tunnel}]}`},
			"leaf", "base",
		},
		{
			"an API that two provide",
			map[string]string{
				"leaf": `{dependencies: [{name: t, api: {kind: Tunnel}, ` + withLast + `}]}`,
				"base": `{provides: [{kind: Tunnel}]}`, "other": `{provides: [{kind: Tunnel}]}`,
			},
			"leaf", "",
		},
		{"itself", map[string]string{"base": `{dependencies: [{name: base}]}`}, "", ""},
		{
			"one that cannot be read may be a user",
			map[string]string{"other": `{dependencies: [{name: a, when: {expression: "1 +"}}]}`},
			"other", "",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			declared := catalog.New(registered(t, test.specs))
			if got := strings.Join(installation.Users(declared, "base"), " "); got != test.users {
				t.Errorf("users %q, want %q", got, test.users)
			}
			if got := strings.Join(installation.Removable(declared), " "); got != test.removing {
				t.Errorf("removes %q, want %q", got, test.removing)
			}
		})
	}
}

func TestATemplateUses(t *testing.T) {
	addOns := registered(t, nil)
	addOns[1] = fixture.Deployed(addOns[1])
	declared := catalog.New(addOns, fixture.Template("leaf", "leaf-2", "[{name: base}]"))
	if !installation.Uses(declared, "leaf", "base") {
		t.Error("a template of leaf declares the edge")
	}
}

func TestReleased(t *testing.T) {
	const never = `, when: {expression: "false"}`
	const declaration = `{dependencies: [{name: a, addOn: base, ` + withLast
	for _, test := range []struct{ name, leaf, want string }{
		{"an edge that applies", `{dependencies: [{name: base, ` + withLast + `}]}`, ""},
		{"one that does not", `{dependencies: [{name: base, ` + withLast + never + `}]}`, "base"},
		{"one that is not known to", `{dependencies: [{name: base, ` + withLast + `, when: {expression: "cluster.claims['x'] == 'y'"}}]}`, ""},
		{"without the wish", `{dependencies: [{name: base, install: Auto` + never + `}]}`, ""},
		{"of two, one that applies", declaration + never + `}, {name: base, ` + withLast + `}]}`, ""},
		{"of two, one without the wish", declaration + never + `}, {name: base, type: Optional` + never + `}]}`, ""},
		{"of two, none", declaration + never + `}, {name: other, ` + withLast + never + `}]}`, "base other"},
		{"nothing", `{}`, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			declared := evaluation.New(catalog.New(registered(t, map[string]string{"leaf": test.leaf})))
			state := declared.State("leaf", evaluation.Cluster{Available: metav1.ConditionTrue}, func(string) evaluation.Observation {
				return evaluation.Observation{}
			})
			got := strings.Join(installation.Released(declared.Catalog, "leaf", declared.Evaluate("leaf", state)), " ")
			if got != test.want {
				t.Errorf("releases %q, want %q", got, test.want)
			}
		})
	}
}
