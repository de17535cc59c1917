package declaration

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/test/fixture"
)

func TestAnnotationObject(t *testing.T) {
	const complete = `
dependencies: [{name: a, version: ">= 1"}]
requirements: {kubernetes: ">= 1.28"}
provides: [{kind: Pod}]
ordering: Install`
	addOn, inField := fixture.Annotated("x", complete), fixture.Specified(t, "x", complete)
	got, want := Read(&addOn), Read(&inField)
	if got.Path != AnnotationPath.Child("dependencies").String() {
		t.Errorf("path %s", got.Path)
	}
	got.Path = want.Path
	if diff := cmp.Diff(want, got, exported); diff != "" || got.Invalid {
		t.Errorf("-field, +annotation:\n%s", diff)
	}
	for annotation, wrong := range map[string]string{
		"dependencies: [{name: a}]\nrequires: {}":             `unknown field "requires"`,
		"Dependencies: [{name: a}]":                           `unknown field "Dependencies"; the field is "dependencies"`,
		"dependencies: [{name: a}]\ndependencies: []":         "already set",
		"requirements: {kubernetes: 1.28}":                    "requirements.kubernetes: Invalid value: must be a string, which may need quotes",
		`{"provides": [{"kind": "Pod", "apiVersion": "v1"}]}`: `unknown field "apiVersion"`,
		"ordering: Later":                                     `ordering: Unsupported value: "Later": supported values: "None", "Install"`,
		"ordering: {a: b}":                                    `ordering: Invalid value: must be a string, which may need quotes, not {"a":"b"}`,
		"ordering: [Install]":                                 `ordering: Invalid value: must be a string, which may need quotes, not [`,
	} {
		addOn := fixture.Annotated("x", annotation)
		if got := Read(&addOn); !got.Invalid || !strings.Contains(got.Problems[0].Message, wrong) {
			t.Errorf("%q: %v", annotation, got.Problems)
		}
	}
	if empty := fixture.Annotated("x", "{}"); Read(&empty).Invalid || !Read(&empty).Empty() {
		t.Error("an empty object declares nothing")
	}
}

func TestAnyFieldHidesTheAnnotation(t *testing.T) {
	for field, spec := range map[string]string{
		"spec.dependencies": `dependencies: []`, "spec.requirements": `requirements: {ocm: "*"}`, "spec.provides": `provides: [{kind: Pod}]`,
		"spec.ordering": `ordering: Install`,
	} {
		addOn := fixture.Specified(t, "x", spec)
		addOn.Annotations = map[string]string{addonv1alpha1.DependenciesAnnotation: "- name: a"}
		got := Read(&addOn)
		if len(got.Dependencies) != 0 || len(got.Problems) != 1 || got.Problems[0].Reason != ProblemDeclaredTwice ||
			!strings.Contains(got.Problems[0].Message, field+" is set") {
			t.Errorf("%s: %+v", field, got)
		}
	}
}
