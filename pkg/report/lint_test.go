package report

import (
	"fmt"
	"strings"
	"testing"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/plan/review"
	"open-cluster-management.io/interlock/test/fixture"
)

func TestFindLint(t *testing.T) {
	dependent := func(name string) addonv1alpha1.ClusterManagementAddOn {
		edge := fixture.Required("x")
		edge.Message, edge.Version = "m", ">= 2"
		return fixture.Registration(name, edge)
	}
	old := fixture.Specified(t, "old", `dependencies: [{name: x, version: "< 2", message: m}]`)
	plain := func(names ...string) []Declared {
		var registrations []Declared
		for _, name := range names {
			registrations = append(registrations, Declared{AddOn: fixture.Registration(name)})
		}
		return registrations
	}
	for name, test := range map[string]struct {
		files []Declared
		hub   []addonv1alpha1.ClusterManagementAddOn
		want  string
	}{
		"nothing":                        {files: plain("a", "b")},
		"a name twice":                   {files: plain("a", "b", "a"), want: "2 metadata.name RegisteredTwice error"},
		"no name, twice":                 {files: plain("", ""), want: "0 metadata.name InvalidName error, 1 metadata.name InvalidName error"},
		"a name too long":                {files: plain(strings.Repeat("a", 254)), want: "0 metadata.name InvalidName error"},
		"one of the hub, to be replaced": {files: plain("a"), hub: []addonv1alpha1.ClusterManagementAddOn{fixture.Registration("a")}},
		"an unknown field": {
			files: []Declared{{AddOn: fixture.Registration("a"), Wrong: []review.Judgement{{Rule: RuleUnknownField, Wrong: true, Field: "spec.x"}}}},
			want:  "0 spec.x UnknownField error",
		},
		"versions that exclude each other, one of them on the hub": {
			files: []Declared{{AddOn: dependent("new")}}, hub: []addonv1alpha1.ClusterManagementAddOn{old, fixture.Registration("x")},
			want: "0 spec.dependencies[0] ConflictingVersions warning",
		},
		"upgrades that wait, by a field and by the annotation": {
			files: []Declared{
				{AddOn: fixture.Specified(t, "a", "{ordering: InstallAndUpgrade}")},
				{AddOn: fixture.Annotated("b", "{ordering: InstallAndUpgrade}")},
				{AddOn: fixture.Deployed(fixture.Specified(t, "c", "{ordering: InstallAndUpgrade}"))},
				{AddOn: fixture.Specified(t, "d", "{ordering: Install}")},
			},
			want: "0 spec.ordering UpgradesNotOrdered warning, " +
				"1 metadata.annotations[addon.open-cluster-management.io/dependencies].ordering UpgradesNotOrdered warning",
		},
		"the same, replaced in the files": {
			files: []Declared{{AddOn: dependent("new")}, {AddOn: dependent("old")}},
			hub:   []addonv1alpha1.ClusterManagementAddOn{old, fixture.Registration("x")},
		},
	} {
		t.Run(name, func(t *testing.T) {
			for i := range test.files {
				test.files[i].Path, test.files[i].Line = fmt.Sprint(i), func(string) int { return 0 }
			}
			var got []string
			for _, finding := range FindLint(test.files, test.hub, true).Items {
				got = append(got, fmt.Sprintf("%s %s %s %s", finding.Path, finding.Field, finding.Rule, finding.Severity))
			}
			if strings.Join(got, ", ") != test.want {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestFindTemplateLint(t *testing.T) {
	deployed := func(name string, dependencies ...string) addonv1alpha1.ClusterManagementAddOn {
		var edges []addonv1alpha1.AddonDependency
		for _, name := range dependencies {
			edges = append(edges, fixture.Required(name))
		}
		return fixture.Deployed(fixture.Registration(name, edges...))
	}
	type hub = []addonv1alpha1.ClusterManagementAddOn
	const path = "x metadata.annotations[dependency.addon.open-cluster-management.io/dependencies]"
	for name, test := range map[string]struct {
		declares   string
		registered hub
		want       string
	}{
		"fine":            {`[{name: a, message: m}]`, hub{deployed("x"), fixture.Registration("a")}, ""},
		"alone in a file": {`[]`, nil, ""},
		"not YAML":        {`[`, nil, path + " InvalidDependencies error"},
		"a range": {
			`[{name: a, message: m, version: new}]`, hub{deployed("x"), deployed("a")}, path + "[0].version InvalidDependencies error",
		},
		"not registered": {`[{name: a, message: m}]`, hub{deployed("x")}, path + " DependencyNotRegistered warning"},
		"a name that is not declared": {
			`[{name: a, message: m, when: {expression: "has(dependencies.b)"}}]`,
			hub{deployed("x"), deployed("a")},
			path + "[0].when.expression UndeclaredDependency error",
		},
		"no message":   {`[{name: a}]`, hub{deployed("x"), deployed("a")}, path + " NoMessage warning"},
		"no templates": {`[]`, hub{fixture.Registration("x")}, "x spec.addonName TemplateNotSupported warning"},
		"a possible cycle": {
			`[{name: a, message: m}]`, hub{deployed("x"), deployed("a", "x")}, path + " ConditionalDependencyCycle warning",
		},
	} {
		t.Run(name, func(t *testing.T) {
			template := DeclaredTemplate{Path: "file", Template: fixture.Template("x", "v2", test.declares), Line: func(string) int { return 0 }}
			var got []string
			for _, finding := range FindTemplateLint([]DeclaredTemplate{template}, test.registered, false) {
				got = append(got, fmt.Sprintf("%s %s %s %s", finding.AddOn, finding.Field, finding.Rule, finding.Severity))
			}
			if strings.Join(got, ", ") != test.want {
				t.Errorf("got %q", got)
			}
		})
	}
}
