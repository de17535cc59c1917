package review

import (
	"strings"
	"testing"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/test/fixture"
)

func TestVersionNotReported(t *testing.T) {
	template := func(addOn, label, annotation string) addonv1alpha1.AddOnTemplate {
		template := fixture.Template(addOn, addOn+"-template", "")
		template.Labels = map[string]string{addonv1alpha1.TemplateVersionLabel: label}
		template.Annotations = map[string]string{addonv1alpha1.AddOnVersionAnnotation: annotation}
		return template
	}
	former := fixture.Registration("b")
	former.Annotations = map[string]string{addonv1alpha1.FormerVersionAnnotation: "1.0.0"}
	type templates = []addonv1alpha1.AddOnTemplate
	for name, test := range map[string]struct {
		spec      string
		target    addonv1alpha1.ClusterManagementAddOn
		templates templates
		want      string // fields of warnings, and their add-ons
	}{
		"a range":                     {spec: `{name: b, version: ">= 1"}`, want: "spec.dependencies[0] b"},
		"a range by another name":     {spec: `{name: x, addOn: b, version: ">= 1"}`, want: "spec.dependencies[0] b"},
		"a range of an alternative":   {spec: `{name: x, anyOf: [{addOn: c}, {addOn: b, version: ">= 1"}]}`, want: "spec.dependencies[0] b"},
		"a range of a conflict":       {spec: `{name: b, type: Conflicts, version: "< 2"}`, want: "spec.dependencies[0] b"},
		"every release of a conflict": {spec: `{name: b, type: Conflicts, version: ">= 0.0.0"}`, want: "spec.dependencies[0] b"},
		"two ranges on one add-on": {
			spec: `{name: b, version: ">= 1"}, {name: x, addOn: b, version: "< 9"}`,
			want: "spec.dependencies[0] b",
		},
		"no range":                      {spec: `{name: b}`},
		"any version":                   {spec: `{name: b, version: "*"}`},
		"every release":                 {spec: `{name: b, version: ">= 0.0.0"}`}, // EveryVersion has it
		"an API":                        {spec: `{name: b, api: {kind: B}}`},
		"not registered":                {spec: `{name: d, version: ">= 1"}`},
		"a version of the registration": {spec: `{name: b, version: ">= 1"}`, target: fixture.Versioned(fixture.Registration("b"), "0.1.0")},
		"by the former key":             {spec: `{name: b, version: ">= 1"}`, target: former},
		"that of OCM":                   {spec: `{name: b, version: ">= 1"}`, target: fixture.Versioned(fixture.Registration("b"), "@ocm")},
		"blanks": {
			spec: `{name: b, version: ">= 1"}`, target: fixture.Versioned(fixture.Registration("b"), " "), want: "spec.dependencies[0] b",
		},
		"a template without one": {
			spec: `{name: b, version: ">= 1"}`, templates: templates{template("b", "", "")},
			want: "spec.dependencies[0] b",
		},
		"the label of a template": {spec: `{name: b, version: ">= 1"}`, templates: templates{template("b", "1.0.0", "")}},
		"its annotation": {spec: `{name: b, version: ">= 1"}`, templates: templates{template("b", "", "1.0.0"), template("b", "",
			"")}},
		"that of another's": {
			spec: `{name: b, version: ">= 1"}`, templates: templates{template("c", "1.0.0", "")},
			want: "spec.dependencies[0] b",
		},
		"a template of no add-on":   {spec: `{name: d, version: ">= 1"}`, templates: templates{template("d", "", "")}},
		"a declaration without use": {spec: `{name: b, version: "new"}`},
	} {
		t.Run(name, func(t *testing.T) {
			if test.target.Name == "" {
				test.target = fixture.Registration("b")
			}
			registration := fixture.Specified(t, "a", "dependencies: ["+test.spec+"]")
			registered := append(fixture.Registrations("a:, c:"), test.target)
			var got []string
			for _, judgement := range VersionNotReported(declaration.Read(&registration), FindVersioned(registered, test.templates)) {
				_, addOn, _ := strings.Cut(judgement.Message, `no version of "`)
				addOn, _, _ = strings.Cut(addOn, `"`)
				got = append(got, judgement.Field+" "+addOn)
				if judgement.Wrong || judgement.Rule != RuleVersionNotReported {
					t.Errorf("%+v", judgement)
				}
			}
			if strings.Join(got, ", ") != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// A name that no add-on can have does not become a part of a command.
func TestVersionRemedy(t *testing.T) {
	for addOn, want := range map[string]string{
		"tunnel": "; to set it: kubectl annotate clustermanagementaddon tunnel dependency.addon.open-cluster-management.io/version=VERSION",
		"$(id)":  "",
	} {
		if got := VersionRemedy(addOn); got != want {
			t.Errorf("%s: %q", addOn, got)
		}
	}
}
