package review

import (
	"strings"
	"testing"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/test/fixture"
)

func TestLongChains(t *testing.T) {
	const chain = "b: c, c: d, d: e, e: f, f: g, g:, "
	for name, test := range map[string]struct {
		dependencies []addonv1alpha1.AddonDependency
		others, want string
	}{
		"five":                        {[]addonv1alpha1.AddonDependency{fixture.Required("c")}, chain, ""},
		"six":                         {[]addonv1alpha1.AddonDependency{fixture.Required("b")}, chain, "6"},
		"the longest counts":          {[]addonv1alpha1.AddonDependency{fixture.Required("g"), fixture.Required("b")}, chain, "6"},
		"an Optional one first":       {[]addonv1alpha1.AddonDependency{fixture.Optional("b")}, chain, ""},
		"an Optional one in it":       {[]addonv1alpha1.AddonDependency{fixture.Required("b")}, "b: c, c: d?, d: e, e: f, f: g, g:", ""},
		"what it replaces counts not": {[]addonv1alpha1.AddonDependency{fixture.Required("g")}, chain + "a: b", ""},
		"what it replaces, in a chain": {
			[]addonv1alpha1.AddonDependency{fixture.Required("g2")},
			chain + "g2: a?, a: b", "",
		},
		"one with a condition does": {[]addonv1alpha1.AddonDependency{fixture.Gated("b", "x")}, chain, "6"},
		"those that require each other count as one": {
			[]addonv1alpha1.AddonDependency{fixture.Required("b")}, "b: c, c: d, d: e, e: f, f: g h, h: f, g:", "6",
		},
		"one that is not known to end": {[]addonv1alpha1.AddonDependency{fixture.Required("b")}, "b: c, c: d, d: e, e: f, f: g", "6"},
	} {
		t.Run(name, func(t *testing.T) {
			added := fixture.Registration("a", test.dependencies...)
			want := ""
			if test.want != "" {
				want = "spec.dependencies: a chain of " + test.want + " Required dependencies begins here: " +
					"each of them can break the add-on: a → b → c → d → e → f → g"
			}
			if got := strings.Join(new(Reviewer).Review(&added, nil, fixture.Registrations(test.others)).Warnings, "; "); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestConflictsByWhichAnAddOnNeverWorks(t *testing.T) {
	const itself = `spec.dependencies[0]: "a" conflicts with itself, so it can never be available; name another add-on`
	const required = `spec.dependencies[1]: "b" is required, and any version of it conflicts, so the add-on can never be available; ` +
		"remove one of the two dependencies"
	const alternativeEdge = `{name: x, anyOf: [{addOn: b}, {addOn: c}]}, `
	const alternatives = `spec.dependencies[0]: one of the alternatives of "x" is required, and any version of each conflicts, ` +
		"so the add-on can never be available; remove one of these dependencies"
	for spec, want := range map[string]string{
		`{name: a, type: Conflicts}`:                                                                                         itself,
		`{name: x, addOn: a, type: Conflicts, version: "< 2"}`:                                                               itself,
		`{name: a, type: Conflicts, when: {expression: "false"}}`:                                                            "",
		`{name: b}, {name: x, addOn: b, type: Conflicts}`:                                                                    required,
		`{name: b}, {name: x, addOn: b, type: Conflicts, version: "*"}`:                                                      required,
		`{name: b}, {name: x, addOn: b, type: Conflicts, version: "< 2"}`:                                                    "",
		`{name: b, type: Optional}, {name: x, addOn: b, type: Conflicts}`:                                                    "",
		`{name: b, when: {expression: "false"}}, {name: x, addOn: b, type: Conflicts}`:                                       "",
		`{name: b}, {name: x, addOn: b, type: Conflicts, when: {expression: "cluster.name == ''"}}`:                          "",
		alternativeEdge + `{name: b, type: Conflicts}, {name: c, type: Conflicts}`:                                           alternatives,
		alternativeEdge + `{name: b, type: Conflicts}, {name: c, type: Conflicts, version: "< 2"}`:                           "",
		alternativeEdge + `{name: b, type: Conflicts}`:                                                                       "",
		`{name: x, type: Optional, anyOf: [{addOn: b}, {addOn: c}]}, {name: b, type: Conflicts}, {name: c, type: Conflicts}`: "",
		`{name: x, anyOf: [{addOn: b}, {api: {kind: Pod}}]}, {name: b, type: Conflicts}`:                                     "",
	} {
		added := fixture.Specified(t, "a", "dependencies: ["+spec+"]")
		if got := strings.Join(new(Reviewer).Review(&added, nil, fixture.Registrations("b:")).Denials, "; "); got != want {
			t.Errorf("%s: got %q, want %q", spec, got, want)
		}
	}
}

func TestNoVersion(t *testing.T) {
	const warns = `spec.dependencies[0]: no version of "b" is in the range `
	for spec, want := range map[string]string{
		`{name: b, version: ">= 2, < 1"}`:                                   warns + `">= 2, < 1"`,
		`{name: x, addOn: b, version: "> 1.2.3, < 1.2.4"}`:                  warns + `"> 1.2.3, < 1.2.4"`,
		`{name: x, anyOf: [{addOn: b, version: ">= 2, < 1"}, {addOn: b2}]}`: warns + `">= 2, < 1"`,
		`{name: b, version: ">= 1, < 2"}`:                                   "",
		`{name: b, version: "> 1.2.3, < 1.2.4", prereleases: {}}`:           "",
		`{name: b, version: "*"}`:                                           "",
	} {
		added := fixture.Specified(t, "a", "dependencies: ["+spec+"]")
		if got := strings.Join(new(Reviewer).Review(&added, nil, fixture.Registrations("b:, b2:")).Warnings, "; "); got != want {
			t.Errorf("%s: got %q, want %q", spec, got, want)
		}
	}
}

func TestNoVersionOfARequirement(t *testing.T) {
	for spec, want := range map[string]string{
		`kubernetes: "<1.2, >1.3"`: `spec.requirements: requirements.kubernetes: no version is in the range "<1.2, >1.3"`,
		`kubernetes: ">= 1.30"`:    "",
		`ocm: "> 2 < 1"`:           `spec.requirements: requirements.ocm: no version is in the range "> 2 < 1"`,
	} {
		added := fixture.Specified(t, "a", "dependencies: [{name: b}]\nrequirements: {"+spec+"}")
		if got := strings.Join(new(Reviewer).Review(&added, nil, fixture.Registrations("b:")).Warnings, "; "); got != want {
			t.Errorf("%s: got %q, want %q", spec, got, want)
		}
	}
}

func TestEveryVersion(t *testing.T) {
	const warns = `spec.dependencies[0]: every release of "b" is in the range ">= 0.0.0", but an add-on that reports no version is not: `
	const remedy = "leave version out if any will do"
	for spec, want := range map[string]string{
		`{name: b, version: ">= 0.0.0"}`:                    warns + remedy,
		`{name: b, type: IfInstalled, version: ">= 0.0.0"}`: warns + "remove the dependency if any version will do",
		`{name: b, type: Conflicts, version: ">= 0.0.0"}`:   "",
		`{name: x, addOn: b, version: ">= 0.0.0"}`:          warns + remedy,
		`{name: b, version: "*"}`:                           "",
		`{name: b, version: ">= 0.0.1"}`:                    "",
		`{name: b}`:                                         "",
	} {
		added := fixture.Specified(t, "a", "dependencies: ["+spec+"]")
		if got := strings.Join(new(Reviewer).Review(&added, nil, fixture.Registrations("b:")).Warnings, "; "); got != want {
			t.Errorf("%s: got %q, want %q", spec, got, want)
		}
	}
}
