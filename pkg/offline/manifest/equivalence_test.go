package manifest

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/test/fixture"
)

type stricterCheck struct {
	reason string
	check  *regexp.Regexp
}

// stricter has the checks of both forms that only Interlock makes, each with its reason. The CRD accepts the values that
// they refuse. There is no check that only the CRD makes.
var stricter = []stricterCheck{
	{"no schema can state what a range of versions is", regexp.MustCompile(`: must be a range`)},
	{
		"a CEL expression is compiled with the variables of Interlock",
		regexp.MustCompile(`(expression|valueFrom): Invalid value: .*(column|must be|cannot be)`),
	},
	{"metav1.LabelSelector has no schema for labels and operators", regexp.MustCompile(`clusterSelector\.`)},
	{"the proposal's schema of a name allows blanks", regexp.MustCompile(`\.name: Invalid value: " "`)},
	{"CEL of Kubernetes 1.30 has no cheap sum over nested lists", regexp.MustCompile(`expressions are in when, config and settings`)},
	{"a schema counts characters, and what is compiled is bounded in bytes", regexp.MustCompile(`all expressions together have`)},
}

// forms validates one declaration in each of its forms.
type forms struct {
	t      *testing.T
	schema crdSchema
	rules  *cel.Validator
	// uses counts the refusals of each check in stricter.
	uses []int
}

func newForms(t *testing.T) *forms {
	t.Helper()
	schemas, err := crdSchemas()
	if err != nil {
		t.Fatal(err)
	}
	schema := schemas[addonv1alpha1.GroupVersion.Version]
	return &forms{t, schema, cel.NewValidator(schema.structural, true, celconfig.PerCallLimit), make([]int, len(stricter))}
}

// compare fails if an API server and Interlock do not agree on a declaration.
func (f *forms) compare(name, declared string) {
	f.t.Helper()
	inCRD, inAnnotation := f.refusedByCRD(declared), refused(fixture.Annotated("x", declared))
	switch {
	case (len(inCRD) > 0) == (inAnnotation != ""):
	case inAnnotation == "":
		f.t.Errorf("%s: the CRD alone refuses it: %q", name, inCRD)
	default:
		i := slices.IndexFunc(stricter, func(s stricterCheck) bool { return s.check.MatchString(inAnnotation) })
		if i < 0 {
			f.t.Errorf("%s: the annotation alone is refused: %s", name, inAnnotation)
			return
		}
		f.uses[i]++
		var addOn addonv1alpha1.ClusterManagementAddOn
		if err := yaml.Unmarshal([]byte(declared), &addOn.Spec); err != nil || refused(addOn) == "" {
			f.t.Errorf("%s: the annotation is refused, and the field is used: %s %v", name, inAnnotation, err)
		}
	}
}

// comparePairs compares an entry with each pair of properties.
func (f *forms) comparePairs(entry string) {
	f.t.Helper()
	for i, first := range properties {
		for _, second := range properties[i+1:] {
			declared := fmt.Sprintf("dependencies: [{%s, %s, %s}]", entry, first, second)
			if yaml.UnmarshalStrict([]byte(declared), &map[string]any{}) == nil { // else it has a property twice
				f.compare(declared, declared)
			}
		}
	}
}

// compareVaried compares variations of an accepted declaration.
func (f *forms) compareVaried(declared string) {
	f.t.Helper()
	if refusal := refused(fixture.Annotated("x", declared)); refusal != "" || len(f.refusedByCRD(declared)) > 0 {
		f.t.Errorf("%s is refused: %s", declared, refusal)
	}
	var content map[string]any
	if err := yaml.Unmarshal([]byte(declared), &content); err != nil {
		f.t.Fatal(err)
	}
	vary("", content, nil, func(name string) {
		encoded, err := json.Marshal(content)
		if err != nil {
			f.t.Fatal(err)
		}
		f.compare(name, string(encoded))
	})
}

// refusedByCRD returns the errors of an API server with fieldValidation=Strict for a spec.
func (f *forms) refusedByCRD(declared string) []string {
	f.t.Helper()
	var spec map[string]any
	if err := yaml.Unmarshal([]byte(declared), &spec); err != nil {
		f.t.Fatal(err)
	}
	object := map[string]any{"spec": spec}
	tracked := structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}
	refusals := pruning.PruneWithOptions(object, f.schema.structural, true, tracked)
	defaulting.PruneNonNullableNullsWithoutDefaults(object, f.schema.structural)
	defaulting.Default(object, f.schema.structural)
	errs := validation.ValidateCustomResource(nil, object, f.schema.validator)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, f.schema.structural, object)...)
	if len(errs) == 0 {
		errs, _ = f.rules.Validate(f.t.Context(), nil, f.schema.structural, object, nil, celconfig.RuntimeCELCostBudget)
	}
	for _, err := range errs {
		refusals = append(refusals, err.Error())
	}
	return refusals
}

// refused returns the reason why Interlock refuses a declaration, or an empty string. A declaration for another version of
// Interlock is accepted.
func refused(addOn addonv1alpha1.ClusterManagementAddOn) string {
	if read := declaration.Read(&addOn); read.Invalid && read.Problems[0].Reason == declaration.ProblemInvalid {
		return read.Problems[0].Message
	}
	return ""
}

// accepted has valid declarations. Together they have every field.
var accepted = []string{
	`
dependencies:
- name: a
  type: Required
  message: m
  docs: https://a.io/b
  addOn: b
  version: ">= 1"
  prereleases: {identifiers: [rc]}
  tolerate: 2m
  install: Auto
  removal: WithLastDependent
`,
	`
dependencies:
- name: a
  install: Auto
  settings: {policy: Seal, variables: [{name: v, value: w, required: true}, {name: w, valueFrom: "'x'"}]}
`,
	`dependencies: [{name: a, config: {expression: "true", message: m}}]`,
	`
dependencies:
- name: a
  when: {expression: "true", clusterSelector: {matchLabels: {a: b}, matchExpressions: [{key: a, operator: In, values: [b]}]}}
`,
	`dependencies: [{name: a, type: Optional, api: {group: g.io, version: v1, kind: Pod, servedBy: Hub, fields: [spec.a]}}]`,
	`
dependencies:
- name: a
  anyOf:
  - {addOn: b, version: "1", prereleases: {identifiers: [rc]}}
  - {api: {group: g.io, version: v1, kind: Pod, servedBy: Hub, fields: [spec.a]}}
`,
	`dependencies: [{name: d, type: Conflicts, version: "1"}, {name: e, type: IfInstalled, version: "1"}]`,
	`
requirements: {interlock: "*", kubernetes: ">= 1", ocm: ">= 1", claims: {a: b}}
provides: [{group: g.io, version: v1, kind: Pod}]
ordering: Install
`,
}

// values are tried for each field. The last two are expressions.
var values = []any{
	nil, "", " ", "-", "x y", "Ä", "1.5", "A", 1, true,
	[]any{},
	map[string]any{},
	[]any{nil},
	[]any{""},
	[]any{"a", "a"},
	[]any{map[string]any{}},
	map[string]any{"x": nil},
	map[string]any{"": "x"},
	strings.Repeat("x", 254), strings.Repeat("x", 5000), "'" + strings.Repeat("x", 5000) + "'", "true" + strings.Repeat(" ", 5000),
}

// properties are tried in pairs.
var properties = []string{
	"type: Required", "type: Optional", "type: IfInstalled", "type: Conflicts", "type: Hard", "addOn: b", `version: ">= 1"`, "prereleases: {}",
	"api: {kind: Pod}", "api: {kind: Pod, servedBy: ManagedCluster}", "api: {kind: Pod, servedBy: Hub}", "anyOf: [{addOn: b}, {addOn: c}]",
	"anyOf: [{addOn: b}]", "tolerate: 2m", "install: Never", "install: Auto", "install: Maybe", "removal: Keep", "removal: WithLastDependent",
	"settings: {variables: [{name: v, value: w}]}", `config: {expression: "true"}`, `when: {expression: "true"}`,
	"docs: http://a", "message: m",
}

// single are declarations that are not among the others.
var single = []string{
	"{}", "dependencies: []", "provides: []", "requirements: {}", "{dependencies: ~, ordering: ~}", "depends: []", "on: [{name: a}]",
	`dependencies: [{name: a, tolerate: 500ms}]`, `dependencies: [{name: a, tolerate: 25h}]`, `dependencies: [{name: a, tolerate: -2m}]`,
	`dependencies: [{name: a, tolerate: 1m0.5s}]`, `dependencies: [{name: a, tolerate: 1h100us}]`, `dependencies: [{name: a, tolerate: .5h}]`,
	`dependencies: [{name: a, tolerate: 9999999999999999h}]`, `dependencies: [{name: a, tolerate: 1h1h1h1h1h1h1h1h1h1h1h1h1h1h1h1h1h}]`,
	`dependencies: [{name: a, docs: "https://good.io@bad.io/"}]`, `dependencies: [{name: a, docs: "https://a.io/x)"}]`,
	`dependencies: [{name: a, docs: "https://a.io/` + strings.Repeat("x", 512) + `"}]`,
	`dependencies: [{name: a, api: {group: apps/v1, kind: Pod}}]`, `dependencies: [{name: a, api: {kind: Pod/exec}}]`,
	`dependencies: [{name: a, api: {kind: Pod, fields: ["spec.a[].b"]}}]`, `dependencies: [{name: a, api: {kind: Pod, true: Hub}}]`,
	`dependencies: [{name: a, version: "1", prereleases: {identifiers: [rc.1]}}]`,
	`dependencies: [{name: a, anyOf: [{addOn: b}, {addOn: c}, {addOn: b}]}]`, `dependencies: [{name: a, anyOf: [{addOn: b}, {}]}]`,
	`dependencies: [{name: a, anyOf: [{addOn: b}, {addOn: c, api: {kind: Pod}}]}]`,
	`dependencies: [{name: a, anyOf: [{addOn: b}, {version: "1", api: {kind: Pod}}]}]`,
	`dependencies: [{name: a, anyOf: [{addOn: b}, {addOn: c, prereleases: {}}]}]`,
	`dependencies: [{name: a, anyOf: [` + numbered("{addOn: b%d}", 9) + `]}]`,
	`dependencies: [{name: a, anyOf: [{addOn: b}, {api: {kind: Pod, fields: [` + strings.Repeat("a,", 17) + `]}}]}]`,
	`dependencies: [{name: a, anyOf: [{addOn: b}, {addOn: c, version: "1", prereleases: {identifiers: [` + strings.Repeat("a,", 17) + `]}}]}]`,
	`dependencies: [{name: a, install: Auto, settings: {variables: [{name: v, value: w}, {name: v, value: x}]}}]`,
	`dependencies: [{name: a, install: Auto, settings: {variables: [{name: v, value: w, valueFrom: "'x'"}]}}]`,
	`dependencies: [{name: a, install: Auto, settings: {variables: [{name: v}]}}]`,
	`dependencies: [{name: a, install: Auto, settings: {variables: [` + numbered("{name: v%d, value: w}", 17) + `]}}]`,
	`dependencies: [{name: a, install: Auto, settings: {variables: [{name: v, value: ` + strings.Repeat("x", 1025) + `}]}}]`,
	`dependencies: [{name: a, version: "1", prereleases: {identifiers: [` + strings.Repeat("a,", 17) + `]}}]`,
	`dependencies: [{name: a, api: {kind: Pod, fields: [` + strings.Repeat("a,", 17) + `]}}]`,
	`dependencies: [` + strings.Repeat("{name: a},", 257) + `]`,
	`dependencies: [` + strings.Repeat(`{name: a, when: {expression: "true"}},`, 17) + `]`,
	`dependencies: [` + strings.Repeat(`{name: a, when: {expression: "true"}, config: {expression: "true"}},`, 9) + `]`,
	`dependencies: [` + strings.Repeat(`{name: a, install: Auto, settings: {variables: [{name: v, valueFrom: "'x'"}]}},`, 17) + `]`,
	`dependencies: [` + strings.Repeat(`{name: a, when: {expression: "'`+strings.Repeat("é", 2060)+`' != ''"}},`, 16) + `]`,
	`dependencies: [{name: a, config: {expression: "addOn.name == 'a'"}}]`, `dependencies: [{name: a, when: {expression: "config.mode"}}]`,
	`provides: [` + strings.Repeat("{kind: Pod},", 129) + `]`, `provides: [{kind: Pod, servedBy: Hub}]`,
	`requirements: {claims: {` + numbered("c%d: a", 65) + `}}`, `requirements: {docker: "1"}`,
}

// numbered repeats a text with a number in it.
func numbered(format string, count int) string {
	list := ""
	for i := range count {
		list += fmt.Sprintf(format+",", i)
	}
	return list
}

// A declaration is accepted or refused alike in the field, in the annotation, and by an API server with the CRD.
func TestBothFormsAcceptTheSame(t *testing.T) {
	f := newForms(t)
	for _, declared := range single {
		f.compare(fmt.Sprintf("%.200s", declared), declared)
	}
	for _, entry := range []string{"name: a", `name: a, version: "1"`, "name: a, install: Auto"} {
		f.comparePairs(entry)
	}
	for _, declared := range accepted {
		f.compareVaried(declared)
	}
	for i, uses := range f.uses {
		if uses == 0 {
			t.Errorf("no declaration is refused by Interlock alone because %s", stricter[i].reason)
		}
	}
}

// vary replaces, adds, removes and repeats each value within a value, one at a time, and calls check after each change.
func vary(path string, value any, set func(any), check func(name string)) {
	if path != "" {
		for _, replacement := range values {
			set(replacement)
			check(fmt.Sprintf("%s = %.60q", path, fmt.Sprint(replacement)))
		}
		set(value)
	}
	switch value := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			member := value[name]
			vary(path+"."+name, member, func(changed any) { value[name] = changed }, check)
			delete(value, name)
			check(path + "." + name + " removed")
			value[strings.ToUpper(name)] = member
			check(path + "." + name + " in capitals")
			delete(value, strings.ToUpper(name))
			value[name] = member
		}
	case []any:
		for i := range value {
			vary(fmt.Sprintf("%s[%d]", path, i), value[i], func(changed any) { value[i] = changed }, check)
		}
		set(append(slices.Clone(value), value[0]))
		check(path + " with its first item twice")
		set(value)
	}
}
