package declaration

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"open-cluster-management.io/interlock/test/fixture"
)

// exported compares exported fields only, not the compiled form of a declaration.
var exported = cmpopts.IgnoreFields(Declaration{}, "Edges", "Platform")

func TestAnnotation(t *testing.T) {
	withMessage := fixture.Required("a")
	withMessage.Message = "R&D *needs* it, &x *y"

	cases := map[string]struct {
		reason     string
		annotation string
		want       list
	}{
		"YAML": {
			"the form of the design", "- name: a\n- name: b\n  type: Optional\n",
			list{fixture.Required("a"), fixture.Optional("b")},
		},
		"JSON":          {"JSON is YAML", `[{"name":"a"},{"name":"b","type":"Optional"}]`, list{fixture.Required("a"), fixture.Optional("b")}},
		"JSONWithTabs":  {"tabs may indent JSON", "[\n\t{\n\t\t\"name\": \"a\"\n\t}\n]", list{fixture.Required("a")}},
		"EmptyList":     {"no dependencies", "[]", nil},
		"Empty":         {"no dependencies", "", nil},
		"Null":          {"no dependencies", "null", nil},
		"Comment":       {"no dependencies", "# none yet", nil},
		"DocumentStart": {"one document may be marked as such", "---\n- name: a\n", list{fixture.Required("a")}},
		"DocumentEnd":   {"one document may be marked as such", "- name: a\n---\n", list{fixture.Required("a")}},
		"QuotedNumber":  {"a name of digits is a string when quoted", `- name: "5"`, list{fixture.Required("5")}},
		"Signs":         {"ampersands and asterisks in text are no aliases", "- name: a\n  message: R&D *needs* it, &x *y", list{withMessage}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			addOn := fixture.Annotated("x", tc.annotation)
			got := Read(&addOn)
			if diff := cmp.Diff(Declaration{Dependencies: tc.want, Path: AnnotationPath.String()}, got, exported); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestAnnotationInvalid(t *testing.T) {
	var copies strings.Builder
	copies.WriteString("- {name: a, message: &m \"" + strings.Repeat("m", 100_000) + "\"}\n")
	for i := range 4000 {
		fmt.Fprintf(&copies, "- {name: a%d, message: *m}\n", i)
	}
	var laughs strings.Builder
	laughs.WriteString("- &a0 [lol]\n")
	for i := range 30 {
		fmt.Fprintf(&laughs, "- &a%d [%s*a%d]\n", i+1, strings.Repeat(fmt.Sprintf("*a%d,", i), 8), i)
	}

	cases := map[string]struct{ reason, annotation, want string }{
		"NoYAML":      {"what is no YAML is refused", "[{", "did not find expected"},
		"Text":        {"a bare name is no list", "managed-serviceaccount", "it is one value"},
		"Map":         {"one entry is no list", "name: a", `unknown field "name"`},
		"ListOfNames": {"names alone are no entries", "- a", "[0]: Invalid value: must be an object, not \"a\""},
		"UnknownKey":  {"a mistyped key is refused, not ignored", "- name: a\n  tpye: Optional", `unknown field "tpye"`},
		"WrongCase":   {"the API server tells name from Name", "- name: a\n  Type: Optional", `unknown field "Type"; the field is "type"`},
		"RepeatedKey": {"one of two values would be lost", "- name: a\n  name: b", "already set"},
		"Number": {
			"a number is no name, as in the schema", "- name: 5",
			"[0].name: Invalid value: must be a string, which may need quotes, not 5",
		},
		"Boolean": {
			"yes would become true", "- name: a\n  message: yes",
			"[0].message: Invalid value: must be a string, which may need quotes, not true",
		},
		"WhichEntry": {
			"the wrong entry is named", "- name: a\n- name: b\n  anyOf: [{addOn: c}, {addOn: d, tolerate: 2m}]",
			`[1].anyOf[1]: Invalid value: unknown field "tolerate"`,
		},
		"KeyOn": {
			"YAML makes true of on", "- name: a\n  api: {kind: Pod}\n  on: Hub",
			"YAML reads on, yes, off and no without quotes as true or false",
		},
		"InObject": {
			"also in an object", "dependencies: [{name: a}, {name: [b]}]",
			"dependencies[1].name: Invalid value: must be a string, which may need quotes, not [\"b\"]",
		},
		"Ordering": {
			"a field of the object is named", "ordering: 5", "ordering: Invalid value: must be a string, which may need quotes, not 5",
		},
		"Requirement": {
			"and one within", "requirements: {kubernetes: 1.30}",
			"requirements.kubernetes: Invalid value: must be a string, which may need quotes, not 1.3",
		},
		"Dependencies": {
			"and a list", "dependencies: {name: a}", `dependencies: Invalid value: must be a list, not {"name":"a"}`,
		},
		"Provides": {
			"and the entry of another list", "provides: [{kind: Pod}, Pod]", `provides[1]: Invalid value: must be an object, not "Pod"`,
		},
		"List": {
			"a list is shown", "- {name: a, install: [Auto]}",
			`[0].install: Invalid value: must be a string, which may need quotes, not ["Auto"]`,
		},
		"Variable": {
			"each index is named", "- {name: a, settings: {variables: [{name: X, value: a}, {name: REPLICAS, value: 3}]}}",
			"[0].settings.variables[1].value: Invalid value: must be a string, which may need quotes, not 3",
		},
		"Alternative": {
			"also of an alternative", "- {name: a, anyOf: [{addOn: b}, {api: {kind: Pod, fields: [1]}}]}",
			"[0].anyOf[1].api.fields[0]: Invalid value: must be a string, which may need quotes, not 1",
		},
		"UnknownType":      {"the types are those of the schema", "- name: a\n  type: Hard", `"Hard"`},
		"EmptyName":        {"a name is required", `- name: ""`, "Required value"},
		"NoName":           {"a name is required", "- type: Optional", "Required value"},
		"NullEntry":        {"an entry that is null is no object", "- ~", "must be an object, not null"},
		"Tabs":             {"tabs do not indent YAML", "-\tname: a\n\ttype: Optional", "cannot start any token"},
		"SecondDocument":   {"a second document would be lost", "- name: a\n---\n- name: b", "more than one YAML document"},
		"Alias":            {"aliases are refused", "- &a {name: x}\n- *a", "aliases"},
		"AliasesOfText":    {"500 MB of copies are never made", copies.String(), "aliases"},
		"BillionLaughs":    {"nor are these", laughs.String(), "aliases"},
		"Deep":             {"nesting does not overflow the stack", strings.Repeat("[", 15_000), "max depth"},
		"ManyValues":       {"a list of them takes a lot of memory", "[" + strings.Repeat("1,", 20_001) + "]", "at most 20000 are read"},
		"ManyLines":        {"so does a list in YAML", strings.Repeat("- {}\n", 10_000), "at most 20000 are read"},
		"NestedLines":      {"and one of lists", strings.Repeat("- - - -\n", 6_000), "at most 20000 are read"},
		"ManyBytes":        {"no API server stores them", "# " + strings.Repeat("x", 256<<10), "262144 are read"},
		"Binary":           {"a tagged scalar is no list", "!!binary aGVsbG8=", "it is one value"},
		"ControlCharacter": {"YAML knows no such characters", "- name: a\x00", "control characters"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			addOn := fixture.Annotated("x", tc.annotation)
			got := Read(&addOn)
			if !got.Invalid || got.Dependencies != nil || len(got.Problems) != 1 || got.Problems[0].Reason != ProblemInvalid {
				t.Fatalf("%s: got %+v", tc.reason, got)
			}
			if !strings.Contains(got.Problems[0].Message, tc.want) {
				t.Errorf("%s: %q is not in %q", tc.reason, tc.want, got.Problems[0].Message)
			}
			checkProblems(t, got.Problems)
		})
	}
}

func FuzzDeclare(f *testing.F) {
	for _, seed := range []string{
		"", "- name: a", `[{"name":"a","type":"Optional","message":"m"}]`, "- name: a\n  name: b", "- &a {name: x}\n- *a",
		"a: b", "- name: a\n---\n- name: b", "- Name: a", "- name: 5", "-\tname: a", "- <<: {name: a}", "? a\n: b", "- !!str a", "\xff\xfe",
		"%YAML 1.2\n---\n- name: a", "- name: a\n- name: a\n  type: Optional",
		"- {name: a, anyOf: [{addOn: b, version: '>= 1'}, {api: {kind: Pod}}]}",
		"- {name: a, anyOf: [{}, {addOn: b}, {addOn: b}]}", "- {name: a, anyOf: [null]}",
		"- {name: a, api: {kind: Pod, servedBy: Hub}}", "- {name: a, api: {kind: Pod, on: Hub}}",
		"- {name: a, api: {kind: Pod, servedBy: [Hub]}}",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, annotation string) {
		addOn := fixture.Annotated("x", annotation)
		got := Read(&addOn)
		if got.Invalid != hasProblem(got, ProblemInvalid) {
			t.Errorf("Invalid is %t, problems are %v", got.Invalid, got.Problems)
		}
		if got.Invalid && got.Dependencies != nil {
			t.Errorf("an invalid declaration has dependencies: %v", got.Dependencies)
		}
		if errs := (declared{dependencies: got.Dependencies, path: FieldPath, parent: specPath}).validate(); len(errs) > 0 {
			t.Errorf("the field would be refused: %v", errs)
		}
		seen := map[string]bool{}
		for _, dependency := range got.Dependencies {
			if seen[dependency.Name] || dependency.Type == "" {
				t.Errorf("a name counts once and has a type: %v", got.Dependencies)
			}
			seen[dependency.Name] = true
		}
		checkProblems(t, got.Problems)
		if diff := cmp.Diff(got, Read(&addOn), exported); diff != "" {
			t.Errorf("declared again: %s", diff)
		}
	})
}
