package declaration_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/plan/review"
	"open-cluster-management.io/interlock/test/fixture"
)

// An expression that reads the settings of no dependency never has a value. The declaration counts all the same.
func TestUndeclaredDependencies(t *testing.T) {
	const (
		base    = `{name: proxy, addOn: cluster-proxy}, {name: role, api: {kind: Role}}`
		problem = "is no dependency on an add-on in this declaration; correct the name, or declare the dependency"
	)
	conditionOn := func(expression string) string {
		return `dependencies: [` + base + `, {name: b, when: {expression: "` + expression + `"}}]`
	}
	settingFrom := func(expression string) string {
		return `dependencies: [` + base + `, {name: b, install: Auto, settings: {variables: [{name: x, value: y}, ` +
			`{name: p, valueFrom: "` + expression + `"}]}}]`
	}
	const atWhen, atFrom = "spec.dependencies[2].when.expression: ", "spec.dependencies[2].settings.variables[1].valueFrom: "
	for name, test := range map[string]struct {
		spec string
		want []string
	}{
		"declared": {settingFrom("dependencies['proxy'].config[?'port']"), nil},
		"itself":   {settingFrom("dependencies.b.config[?'port']"), nil},
		"its add-on": {
			settingFrom("dependencies['cluster-proxy'].config[?'port']"), []string{atFrom + `dependencies["cluster-proxy"] ` + problem},
		},
		"no edge":     {settingFrom("dependencies.prox.config[?'port']"), []string{atFrom + `dependencies["prox"] ` + problem}},
		"an API":      {conditionOn("'role' in dependencies"), []string{atWhen + `dependencies["role"] ` + problem}},
		"a condition": {conditionOn("dependencies['c'].config.?a.hasValue()"), []string{atWhen + `dependencies["c"] ` + problem}},
		"two": {
			conditionOn("has(dependencies.d) && has(dependencies.c)"),
			[]string{atWhen + `dependencies["c"] ` + problem, atWhen + `dependencies["d"] ` + problem},
		},
		"a name from a label": {conditionOn("dependencies[cluster.name].config.size() == 0"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			addOn := fixture.Specified(t, "x", test.spec)
			declared := declaration.Read(&addOn)
			var got []string
			for _, problemFound := range declared.Problems {
				if problemFound.Reason != declaration.ProblemUndeclared || problemFound.Field+": " != problemFound.Message[:len(problemFound.Field)+2] {
					t.Errorf("%s at %s: %s", problemFound.Reason, problemFound.Field, problemFound.Message)
				}
				got = append(got, problemFound.Message)
			}
			if !slices.Equal(got, test.want) || len(declared.Edges) != 3 {
				t.Errorf("%d edges, got %q, want %q", len(declared.Edges), got, test.want)
			}
			var reviewer review.Reviewer
			result := reviewer.Review(&addOn, nil, nil)
			for _, want := range test.want {
				if !slices.Contains(result.Warnings, want) || len(result.Denials) > 0 {
					t.Errorf("admission warns %q, and denies %q", result.Warnings, result.Denials)
				}
			}
		})
	}
}

// A problem names field and value, in the field and in the annotation.
func TestInvalidExtensions(t *testing.T) {
	for name, tc := range map[string]struct {
		spec string
		want []string
	}{
		"Range":           {`dependencies: [{name: a, version: ">= four"}]`, []string{`dependencies[0].version`, `">= four"`, "must be a range"}},
		"HelmsEmptyRange": {`requirements: {kubernetes: " "}`, []string{"requirements.kubernetes", "must be a range"}},
		"KubernetesRange": {`requirements: {kubernetes: "1.28+"}`, []string{"requirements.kubernetes", `"1.28+"`}},
		"OCMRange":        {`requirements: {ocm: latest}`, []string{"requirements.ocm", `"latest"`}},
		"ClaimRange": {
			`requirements: {claims: {version.openshift.io: ">= four"}}`,
			[]string{"requirements.claims[version.openshift.io]", `">= four"`},
		},
		"EmptyClaim": {`requirements: {claims: {a: ""}}`, []string{"requirements.claims[a]"}},
		"LongRange": {
			`dependencies: [{name: a, version: "` + strings.Repeat("1", 257) + `"}]`,
			[]string{"dependencies[0].version", "at most 256 characters"},
		},
		"Operator": {
			`dependencies: [{name: a, when: {clusterSelector: {matchExpressions: [{key: a, operator: Is}]}}}]`,
			[]string{"dependencies[0].when.clusterSelector.matchExpressions[0].operator", `"Is"`},
		},
		"Label": {
			`dependencies: [{name: a, when: {clusterSelector: {matchLabels: {"-a": b}}}}]`,
			[]string{"dependencies[0].when.clusterSelector.matchLabels", `"-a"`},
		},
		"Values": {
			`dependencies: [{name: a, when: {clusterSelector: {matchExpressions: [{key: a, operator: In}]}}}]`,
			[]string{"matchExpressions[0].values"},
		},
		"Syntax": {
			`dependencies: [{name: a, when: {expression: "a &&"}}]`,
			[]string{"dependencies[0].when.expression", `"a &&"`, "column 5: Syntax error"},
		},
		"Variable": {`dependencies: [{name: a, when: {expression: "clsuter.name == ''"}}]`, []string{"undeclared reference to 'clsuter'"}},
		"Field":    {`dependencies: [{name: a, when: {expression: "cluster.lables.size() == 0"}}]`, []string{"undefined field 'lables'"}},
		"NotBool":  {`dependencies: [{name: a, when: {expression: "config.mode"}}]`, []string{"must be true or false"}},
		"LongExpression": {
			`dependencies: [{name: a, when: {expression: "` + strings.Repeat("x", 4097) + `"}}]`,
			[]string{"when.expression", "at most 4096 characters"},
		},
		"EmptyWhen":   {`dependencies: [{name: a, when: {}}]`, []string{"dependencies[0].when", "set clusterSelector or expression"}},
		"AddOnAndAPI": {`dependencies: [{name: a, addOn: b, api: {kind: Pod}}]`, []string{"dependencies[0].addOn", `"b"`, "not both"}},
		"RangeOfAPI":  {`dependencies: [{name: a, version: "1", api: {kind: Pod}}]`, []string{"dependencies[0].version", "api.version"}},
		"Prereleases": {`dependencies: [{name: a, prereleases: {}}]`, []string{"dependencies[0].prereleases", "needs version"}},
		"Identifier": {
			`dependencies: [{name: a, version: "1", prereleases: {identifiers: [rc, rc.1]}}]`,
			[]string{"prereleases.identifiers[1]", `"rc.1"`},
		},
		"ManyIdentifiers": {
			`dependencies: [{name: a, version: "1", prereleases: {identifiers: [` + strings.Repeat("a,", 17) + `]}}]`,
			[]string{"prereleases.identifiers", "must have at most 16 items"},
		},
		"RemovalUnknown": {`dependencies: [{name: a, install: Auto, removal: Never}]`, []string{"dependencies[0].removal", "Never"}},
		"RemovalAlone":   {`dependencies: [{name: a, removal: WithLastDependent}]`, []string{"dependencies[0].removal", "needs install Auto"}},
		"RemovalOfOthers": {
			`dependencies: [{name: a, install: Never, removal: WithLastDependent}]`, []string{"dependencies[0].removal", "needs install Auto"},
		},
		"IfInstalled": {`dependencies: [{name: a, type: IfInstalled}]`, []string{"dependencies[0].type", "needs version"}},
		"Kind":        {`dependencies: [{name: a, api: {group: apps}}]`, []string{"dependencies[0].api.kind", "kind is the API's kind"}},
		"KindForm":    {`dependencies: [{name: a, api: {kind: "Pod/exec"}}]`, []string{"dependencies[0].api.kind", `"Pod/exec"`}},
		"Group": {
			`dependencies: [{name: a, api: {group: apps/v1, kind: Deployment}}]`,
			[]string{"dependencies[0].api.group", `"apps/v1"`, "without its version"},
		},
		"APIVersion": {`dependencies: [{name: a, api: {version: ">= v1", kind: Deployment}}]`, []string{"dependencies[0].api.version"}},
		"APIField": {
			`dependencies: [{name: a, api: {kind: Pod, fields: [spec.nodeName, "spec.containers[].image"]}}]`,
			[]string{"dependencies[0].api.fields[1]", `"spec.containers[].image"`, "paths of property names, such as"},
		},
		"ServedBy": {
			`dependencies: [{name: a, api: {kind: Pod, servedBy: hub}}]`,
			[]string{"dependencies[0].api.servedBy", `"hub"`, `"ManagedCluster", "Hub", "HostingCluster"`},
		},
		"EmptyAPIField": {`dependencies: [{name: a, api: {kind: Pod, fields: [""]}}]`, []string{"dependencies[0].api.fields[0]"}},
		"LongAPIField": {
			`dependencies: [{name: a, api: {kind: Pod, fields: [` + strings.Repeat("x", 257) + `]}}]`,
			[]string{"dependencies[0].api.fields[0]", "at most 256 characters"},
		},
		"ManyAPIFields": {
			`dependencies: [{name: a, api: {kind: Pod, fields: [` + strings.Repeat("spec,", 17) + `]}}]`,
			[]string{"dependencies[0].api.fields", "must have at most 16 items"},
		},
		"Provides":     {`provides: [{kind: Pod}, {kind: ""}]`, []string{"provides[1].kind"}},
		"ManyProvides": {`provides: [` + strings.Repeat("{kind: Pod},", 129) + `]`, []string{"provides: ", "must have at most 128 items"}},
		"DocsScheme": {
			`dependencies: [{name: a, docs: "javascript:alert(1)"}]`,
			[]string{"dependencies[0].docs", `"javascript:alert(1)"`, "docs is a link to a page"},
		},
		"DocsUser": {
			`dependencies: [{name: a, docs: "https://good.io@bad.io/"}]`,
			[]string{"dependencies[0].docs", `"https://good.io@bad.io/"`},
		},
		"DocsNoHost":     {`dependencies: [{name: a, docs: "https:///page"}]`, []string{"dependencies[0].docs"}},
		"DocsBlank":      {`dependencies: [{name: a, docs: "https://a.io/x; also Degraded: y"}]`, []string{"dependencies[0].docs"}},
		"DocsParenthese": {`dependencies: [{name: a, docs: "https://a.io/x)"}]`, []string{"dependencies[0].docs"}},
		"LongDocs": {
			`dependencies: [{name: a, docs: "https://a.io/` + strings.Repeat("x", 512) + `"}]`,
			[]string{"dependencies[0].docs", "at most 512 characters"},
		},
		"Tolerate":      {`dependencies: [{name: a, tolerate: soon}]`, []string{"dependencies[0].tolerate", `"soon"`, "from 1s to 24h"}},
		"TolerateShort": {`dependencies: [{name: a, tolerate: 500ms}]`, []string{"dependencies[0].tolerate", `"500ms"`, "from 1s to 24h"}},
		"TolerateLong":  {`dependencies: [{name: a, tolerate: 25h}]`, []string{"dependencies[0].tolerate", `"25h"`, "from 1s to 24h"}},
		"TolerateLess":  {`dependencies: [{name: a, tolerate: "-2m"}]`, []string{"dependencies[0].tolerate", `"-2m"`, "from 1s to 24h"}},
		"TolerateAPI": {
			`dependencies: [{name: a, tolerate: 2m, api: {kind: Pod}}]`,
			[]string{"dependencies[0].tolerate", "has to be available"},
		},
		"TolerateAbsent": {
			`dependencies: [{name: a, tolerate: 2m, type: IfInstalled, version: "1"}]`,
			[]string{"dependencies[0].tolerate", "has to be available"},
		},
		"ConflictingAPI": {
			`dependencies: [{name: a, type: Conflicts, api: {kind: Pod}}]`,
			[]string{"dependencies[0].type", "not for an API"},
		},
		"TolerateConflict": {
			`dependencies: [{name: a, tolerate: 2m, type: Conflicts}]`,
			[]string{"dependencies[0].tolerate", "has to be available"},
		},
		"NoSetting": {`dependencies: [{name: a, config: {message: m}}]`, []string{"dependencies[0].config.expression", "Required value"}},
		"SettingSyntax": {
			`dependencies: [{name: a, config: {expression: "config.mode ="}}]`, []string{"dependencies[0].config.expression", "Syntax error"},
		},
		"SettingOfItself": {
			`dependencies: [{name: a, config: {expression: "addOn.name == 'a'"}}]`, []string{"config.expression", "addOn cannot be read here"},
		},
		"SettingOfAPI": {
			`dependencies: [{name: a, api: {kind: Pod}, config: {expression: "true"}}]`,
			[]string{`dependencies[0].config: Invalid value: {"expression":"true"}: config is for`, "not for an API or a conflict"},
		},
		"SettingOfConflict": {
			`dependencies: [{name: a, type: Conflicts, config: {expression: "true"}}]`, []string{"not for an API or a conflict"},
		},
		"LongSetting": {
			`dependencies: [{name: a, config: {expression: "` + strings.Repeat("x", 4097) + `"}}]`,
			[]string{"config.expression", "at most 4096 characters"},
		},
		"SettingsWithoutInstall": {
			`dependencies: [{name: a, settings: {variables: [{name: v, value: w}]}}]`, []string{"dependencies[0].settings", "needs install Auto"},
		},
		"SettingsOfAPI": {
			`dependencies: [{name: a, install: Auto, api: {kind: Pod}, settings: {variables: [{name: v, value: w}]}}]`,
			[]string{"dependencies[0].settings", "not for an API"},
		},
		"NoVariable": {
			`dependencies: [{name: a, install: Auto, settings: {variables: []}}]`,
			[]string{"settings.variables: Invalid value: 0: must have at least 1 items"},
		},
		"VariableTwice": {
			`dependencies: [{name: a, install: Auto, settings: {variables: [{name: v, value: w}, {name: v, value: x}]}}]`,
			[]string{`settings.variables[1]: Duplicate value: {"name":"v","value":"x"}`},
		},
		"NameOfVariable": {
			`dependencies: [{name: a, install: Auto, settings: {variables: [{name: a-b, value: w}]}}]`, []string{
				"settings.variables[0].name",
				`"a-b"`,
			},
		},
		"NoValue": {
			`dependencies: [{name: a, install: Auto, settings: {variables: [{name: v}]}}]`, []string{
				"settings.variables[0]",
				"one of value and valueFrom",
			},
		},
		"TwoValues": {
			`dependencies: [{name: a, install: Auto, settings: {variables: [{name: v, value: w, valueFrom: "'x'"}]}}]`,
			[]string{"settings.variables[0]", "one of value and valueFrom"},
		},
		"LongValue": {
			`dependencies: [{name: a, install: Auto, settings: {variables: [{name: v, value: ` + strings.Repeat("x", 1025) + `}]}}]`,
			[]string{"settings.variables[0].value", "at most 1024 characters"},
		},
		"ValueOfAnotherType": {
			`dependencies: [{name: a, install: Auto, settings: {variables: [{name: v, valueFrom: "1 + 1"}]}}]`,
			[]string{"settings.variables[0].valueFrom", "must be a string"},
		},
		"PolicyOfSettings": {
			`dependencies: [{name: a, install: Auto, settings: {policy: Force, variables: [{name: v, value: w}]}}]`,
			[]string{"settings.policy", `"Force"`, `"Default", "Seal"`},
		},
		"ManyVariables": {
			`dependencies: [{name: a, install: Auto, settings: {variables: [` + strings.Repeat("{name: v, value: w},", 17) + `]}}]`,
			[]string{"settings.variables", "at most 16 items"},
		},
		"DependenciesInConfig": {
			`dependencies: [{name: a, config: {expression: "'b' in dependencies"}}]`, []string{
				"config.expression",
				"cannot be read here: config is",
			},
		},
		"SeveralPlaces": {
			`{dependencies: [{name: a, version: x1}], requirements: {ocm: y1}}`,
			[]string{"dependencies[0].version", `"x1"`, "requirements.ocm", `"y1"`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			inField := fixture.Specified(t, "x", tc.spec)
			for path, addOn := range map[string]addonv1alpha1.ClusterManagementAddOn{
				"spec.": inField, declaration.AnnotationPath.String() + ".": fixture.Annotated("x", tc.spec),
			} {
				got := declaration.Read(&addOn)
				if !got.Invalid || len(got.Problems) != 1 {
					t.Fatalf("%s: %+v", path, got)
				}
				for _, want := range tc.want {
					if startsAtField.MatchString(want) {
						want = path + want
					}
					if !strings.Contains(got.Problems[0].Message, want) {
						t.Errorf("%q is not in %q", want, got.Problems[0].Message)
					}
				}
				declaration.CheckProblems(t, got.Problems)
				reviewed := new(review.Reviewer).Review(&addOn, nil, nil)
				if len(reviewed.Denials) != 1 {
					t.Errorf("admission: %+v", reviewed)
				}
				if reviewed := new(review.Reviewer).Review(&addOn, &addOn, nil); len(reviewed.Denials) != 0 {
					t.Errorf("what was there before the webhook cannot be edited: %+v", reviewed)
				}
			}
		})
	}
}

var startsAtField = regexp.MustCompile(`^(dependencies|requirements|provides)\b`)
