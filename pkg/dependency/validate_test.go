package dependency

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// What is wrong names field and value, in the field and in the annotation.
func TestInvalidExtensions(t *testing.T) {
	for name, tc := range map[string]struct {
		spec string
		want []string
	}{
		"Range":           {`dependencies: [{name: a, version: ">= four"}]`, []string{`dependencies[0].version`, `">= four"`, "must be a range"}},
		"HelmsEmptyRange": {`requirements: {kubernetes: " "}`, []string{"requirements.kubernetes", "must be a range"}},
		"KubernetesRange": {`requirements: {kubernetes: "1.28+"}`, []string{"requirements.kubernetes", `"1.28+"`}},
		"OCMRange":        {`requirements: {ocm: latest}`, []string{"requirements.ocm", `"latest"`}},
		"ClaimRange":      {`requirements: {claims: {version.openshift.io: ">= four"}}`, []string{"requirements.claims[version.openshift.io]", `">= four"`}},
		"EmptyClaim":      {`requirements: {claims: {a: ""}}`, []string{"requirements.claims[a]"}},
		"LongRange":       {`dependencies: [{name: a, version: "` + strings.Repeat("1", 257) + `"}]`, []string{"dependencies[0].version", "at most 256 characters"}},
		"Operator":        {`dependencies: [{name: a, when: {clusterSelector: {matchExpressions: [{key: a, operator: Is}]}}}]`, []string{"dependencies[0].when.clusterSelector.matchExpressions[0].operator", `"Is"`}},
		"Label":           {`dependencies: [{name: a, when: {clusterSelector: {matchLabels: {"-a": b}}}}]`, []string{"dependencies[0].when.clusterSelector.matchLabels", `"-a"`}},
		"Values":          {`dependencies: [{name: a, when: {clusterSelector: {matchExpressions: [{key: a, operator: In}]}}}]`, []string{"matchExpressions[0].values"}},
		"Syntax":          {`dependencies: [{name: a, when: {expression: "a &&"}}]`, []string{"dependencies[0].when.expression", `"a &&"`, "column 5: Syntax error"}},
		"Variable":        {`dependencies: [{name: a, when: {expression: "clsuter.name == ''"}}]`, []string{"undeclared reference to 'clsuter'"}},
		"Field":           {`dependencies: [{name: a, when: {expression: "cluster.lables.size() == 0"}}]`, []string{"undefined field 'lables'"}},
		"NotBool":         {`dependencies: [{name: a, when: {expression: "config.mode"}}]`, []string{"must be true or false"}},
		"LongExpression":  {`dependencies: [{name: a, when: {expression: "` + strings.Repeat("x", 4097) + `"}}]`, []string{"when.expression", "at most 4096 characters"}},
		"EmptyWhen":       {`dependencies: [{name: a, when: {}}]`, []string{"dependencies[0].when", "set clusterSelector, expression or both"}},
		"AddOnAndAPI":     {`dependencies: [{name: a, addOn: b, api: {kind: Pod}}]`, []string{"dependencies[0].addOn", `"b"`, "not both"}},
		"RangeOfAPI":      {`dependencies: [{name: a, version: "1", api: {kind: Pod}}]`, []string{"dependencies[0].version", "api.version"}},
		"Prereleases":     {`dependencies: [{name: a, prereleases: {}}]`, []string{"dependencies[0].prereleases", "needs version"}},
		"Identifier":      {`dependencies: [{name: a, version: "1", prereleases: {identifiers: [rc, rc.1]}}]`, []string{"prereleases.identifiers[1]", `"rc.1"`}},
		"ManyIdentifiers": {`dependencies: [{name: a, version: "1", prereleases: {identifiers: [` + strings.Repeat("a,", 17) + `]}}]`, []string{"prereleases.identifiers", "must have at most 16 items"}},
		"IfInstalled":     {`dependencies: [{name: a, type: IfInstalled}]`, []string{"dependencies[0].type", "needs version"}},
		"Kind":            {`dependencies: [{name: a, api: {group: apps}}]`, []string{"dependencies[0].api.kind", "Required value"}},
		"KindForm":        {`dependencies: [{name: a, api: {kind: "Pod/exec"}}]`, []string{"dependencies[0].api.kind", `"Pod/exec"`}},
		"Group":           {`dependencies: [{name: a, api: {group: apps/v1, kind: Deployment}}]`, []string{"dependencies[0].api.group", `"apps/v1"`, "without its version"}},
		"APIVersion":      {`dependencies: [{name: a, api: {version: ">= v1", kind: Deployment}}]`, []string{"dependencies[0].api.version"}},
		"Provides":        {`provides: [{kind: Pod}, {kind: ""}]`, []string{"provides[1].kind"}},
		"ManyProvides":    {`provides: [` + strings.Repeat("{kind: Pod},", 129) + `]`, []string{"provides: ", "must have at most 128 items"}},
		"SeveralPlaces": {
			`{dependencies: [{name: a, version: x1}], requirements: {ocm: y1}}`,
			[]string{"dependencies[0].version", `"x1"`, "requirements.ocm", `"y1"`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			inField := specified(t, "x", tc.spec)
			for path, addOn := range map[string]addonv1alpha1.ClusterManagementAddOn{
				"spec.": inField, annotationPath.String() + ".": annotated("x", tc.spec),
			} {
				got := Declare(&addOn)
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
				checkProblems(t, got.Problems)
				review := new(Reviewer).Review(&addOn, nil, nil)
				if len(review.Denials) != 1 {
					t.Errorf("admission: %+v", review)
				}
				if review := new(Reviewer).Review(&addOn, &addOn, nil); len(review.Denials) != 0 {
					t.Errorf("what was there before the webhook cannot be edited: %+v", review)
				}
			}
		})
	}
}

var startsAtField = regexp.MustCompile(`^(dependencies|requirements|provides)\b`)

func TestAnnotationObject(t *testing.T) {
	const all = `
dependencies: [{name: a, version: ">= 1"}]
requirements: {kubernetes: ">= 1.28"}
provides: [{kind: Pod}]`
	addOn, inField := annotated("x", all), specified(t, "x", all)
	got, want := Declare(&addOn), Declare(&inField)
	if got.Path != annotationPath.Child("dependencies").String() {
		t.Errorf("path %s", got.Path)
	}
	got.Path = want.Path
	if diff := cmp.Diff(want, got, exported); diff != "" || got.Invalid {
		t.Errorf("-field, +annotation:\n%s", diff)
	}
	for annotation, wrong := range map[string]string{
		"dependencies: [{name: a}]\nrequires: {}":             `unknown field "requires"`,
		"Dependencies: [{name: a}]":                           "lower case",
		"dependencies: [{name: a}]\ndependencies: []":         "already set",
		"requirements: {kubernetes: 1.28}":                    "cannot unmarshal number",
		`{"provides": [{"kind": "Pod", "apiVersion": "v1"}]}`: `unknown field "apiVersion"`,
	} {
		addOn := annotated("x", annotation)
		if got := Declare(&addOn); !got.Invalid || !strings.Contains(got.Problems[0].Message, wrong) {
			t.Errorf("%q: %v", annotation, got.Problems)
		}
	}
	if empty := annotated("x", "{}"); Declare(&empty).Invalid || !Declare(&empty).Empty() {
		t.Error("an empty object declares nothing")
	}
}

func TestAnyFieldHidesTheAnnotation(t *testing.T) {
	for field, spec := range map[string]string{
		"spec.dependencies": `dependencies: []`, "spec.requirements": `requirements: {ocm: "*"}`, "spec.provides": `provides: [{kind: Pod}]`,
	} {
		addOn := specified(t, "x", spec)
		addOn.Annotations = map[string]string{addonv1alpha1.DependenciesAnnotation: "- name: a"}
		got := Declare(&addOn)
		if len(got.Dependencies) != 0 || len(got.Problems) != 1 || got.Problems[0].Reason != ProblemDeclaredTwice || !strings.Contains(got.Problems[0].Message, field+" is set") {
			t.Errorf("%s: %+v", field, got)
		}
	}
}

// Equal is what means the same: pointers and empty lists do not matter.
func TestChangedByMeaning(t *testing.T) {
	const full = `
dependencies:
- {name: a, version: ">= 1", prereleases: {identifiers: [rc]}, when: {clusterSelector: {matchLabels: {a: b}}, expression: "true"}}
- {name: api, api: {kind: Pod}}
requirements: {kubernetes: ">= 1", claims: {a: b}}
provides: [{kind: Thing}]`
	a := registration("a")
	catalog := func(x string, others ...addonv1alpha1.ClusterManagementAddOn) *Catalog {
		return NewCatalog(append(others, specified(t, "x", x)))
	}
	for name, tc := range map[string]struct {
		before, after *Catalog
		want          []string
	}{
		"Same":              {catalog(full, a), catalog(full, a), nil},
		"EmptyIdentifiers":  {catalog(`dependencies: [{name: a, version: "1", prereleases: {}}]`), catalog(`dependencies: [{name: a, version: "1", prereleases: {identifiers: []}}]`), nil},
		"Prereleases":       {catalog(`dependencies: [{name: a, version: "1"}]`), catalog(`dependencies: [{name: a, version: "1", prereleases: {}}]`), []string{"x"}},
		"Range":             {catalog(full), catalog(strings.Replace(full, ">= 1", ">= 2", 1)), []string{"x"}},
		"Selector":          {catalog(full), catalog(strings.Replace(full, "{a: b}", "{a: c}", 1)), []string{"x"}},
		"Expression":        {catalog(full), catalog(strings.Replace(full, "true", "false", 1)), []string{"x"}},
		"API":               {catalog(full), catalog(strings.Replace(full, "Pod", "Job", 1)), []string{"x"}},
		"Requirement":       {catalog(full), catalog(strings.Replace(full, "kubernetes", "ocm", 1)), []string{"x"}},
		"Provides":          {catalog(full), catalog(strings.Replace(full, "Thing", "Other", 1)), nil},
		"Version":           {catalog(full, a), catalog(full, versioned(a, "1.2.3")), []string{"x"}},
		"VersionNotAsked":   {catalog(`dependencies: [{name: a}]`, a), catalog(`dependencies: [{name: a}]`, versioned(a, "1.2.3")), nil},
		"Provider":          {catalog(full, a), catalog(full, specified(t, "a", "provides: [{kind: Pod}]")), []string{"x"}},
		"ProviderNotAsked":  {catalog(full, a), catalog(full, specified(t, "a", "provides: [{kind: Job}]")), nil},
		"ConditionOfAKnot":  {NewCatalog(conditionalSpecs(t, "x: y, y: x!a")), NewCatalog(conditionalSpecs(t, "x: y, y: x!b")), []string{"x", "y"}},
		"ConditionNotOnOne": {NewCatalog(conditionalSpecs(t, "x: y, y: z!a, z:")), NewCatalog(conditionalSpecs(t, "x: y, y: z!b, z:")), []string{"y"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.after.Changed(tc.before)); diff != "" {
				t.Errorf("-want, +got:\n%s", diff)
			}
		})
	}
}

func TestRenewCompilesOnlyWhatIsNew(t *testing.T) {
	const spec = `dependencies: [{name: a, when: {expression: "config.mode == 'proxy'"}}]`
	before := NewCatalog([]addonv1alpha1.ClusterManagementAddOn{specified(t, "x", spec), specified(t, "y", spec)})
	after := before.Renew([]addonv1alpha1.ClusterManagementAddOn{
		specified(t, "x", spec), specified(t, "y", strings.Replace(spec, "proxy", "direct", 1)),
	})
	program := func(c *Catalog, addOn string) *expression { return c.declarations[addOn].edges[0].when.expression }
	if program(before, "x") != program(after, "x") {
		t.Error("compiled again although nothing changed")
	}
	if program(before, "y") == program(after, "y") {
		t.Error("not compiled although it changed")
	}
	if diff := cmp.Diff([]string{"y"}, after.Changed(before)); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

func FuzzExpression(f *testing.F) {
	for _, seed := range []string{
		"true", "config.?mode.orValue('') == 'proxy'", "cluster.labels['a'] == addOn.annotations.b", "[1].map(x, x)[0] == 1",
		"cluster.claims.exists(c, c.startsWith('a'))", "config.a.matches('(a+)+$')", "1/0 == 1", "cluster", "config.all(k, config[k] == k)", "'\\x00'",
	} {
		f.Add(seed, "value")
	}
	f.Fuzz(func(t *testing.T, text, value string) {
		if len(text) > maxExpression {
			return
		}
		compiled, err := compileExpression(text)
		if err != nil {
			if strings.TrimSpace(err.Error()) == "" {
				t.Error("refused without a reason")
			}
			return
		}
		values := map[string]string{"a": value, "mode": "proxy"}
		cluster := &Cluster{Labels: values, Claims: values, KubernetesVersion: value}
		first, firstErr := compiled.evaluate(cluster, Observation{Config: values, Labels: values}, "x")
		second, secondErr := compiled.evaluate(cluster, Observation{Config: values, Labels: values}, "x")
		if first != second || fmt.Sprint(firstErr) != fmt.Sprint(secondErr) {
			t.Errorf("%t, %v, then %t, %v", first, firstErr, second, secondErr)
		}
	})
}
