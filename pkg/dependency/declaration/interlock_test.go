package declaration_test

import (
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/versions"
	"open-cluster-management.io/interlock/pkg/dependency/plan/review"
	"open-cluster-management.io/interlock/test/fixture"
)

// useInterlock runs the rest of a test with that version of Interlock.
func useInterlock(t *testing.T, version string) {
	previous := versions.Interlock
	versions.Interlock = semver.MustParse(version)
	t.Cleanup(func() { versions.Interlock = previous })
}

// A declaration for a later Interlock is not used: neither its fields that this one knows,
// nor an annotation with fields that it does not know.
func TestADeclarationForAnotherInterlock(t *testing.T) {
	useInterlock(t, "0.2.5")
	const older = "the declaration is for Interlock >= 0.3, and this is 0.2.5; " +
		"use an Interlock in that range; until then, conditions stay as they are"
	for name, test := range map[string]struct {
		addOn addonv1alpha1.ClusterManagementAddOn
		want  string // the problem; it is empty if the declaration is used
	}{
		"in the field": {
			fixture.Specified(t, "x", `{dependencies: [{name: a}], requirements: {interlock: ">= 0.3"}}`), "spec.requirements.interlock: " + older,
		},
		"in the annotation": {
			fixture.Annotated("x", `{dependencies: [{name: a}], requirements: {interlock: ">= 0.3"}}`), "].requirements.interlock: " + older,
		},
		"in the annotation, beside fields that are not known": {
			fixture.Annotated("x", `{dependencies: [{name: a, retries: {max: 3}}], requirements: {interlock: ">= 0.3", moon: full}, wants: 1}`),
			"].requirements.interlock: " + older,
		},
		"with a value that cannot be used": {
			fixture.Specified(t, "x", `{dependencies: [{name: a, version: "newest"}], requirements: {interlock: ">= 0.3"}}`),
			"spec.requirements.interlock: " + older,
		},
		"for an earlier one": {
			fixture.Specified(t, "x", `requirements: {interlock: "< 0.2"}`),
			"spec.requirements.interlock: the declaration is for Interlock < 0.2, and this is 0.2.5; use an Interlock in that range",
		},
		"for this one":                    {fixture.Specified(t, "x", `{dependencies: [{name: a}], requirements: {interlock: ">= 0.2"}}`), ""},
		"for this one, in the annotation": {fixture.Annotated("x", `{dependencies: [{name: a}], requirements: {interlock: ">= 0.2"}}`), ""},
		"for this one, with unknown fields": {
			fixture.Annotated("x", `{dependencies: [{name: a, retries: 3}], requirements: {interlock: ">= 0.2"}}`), `unknown field "retries"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := declaration.Read(&test.addOn)
			if test.want == "" {
				if got.Invalid || len(got.Problems) > 0 || len(got.Edges) != 1 {
					t.Errorf("%+v", got)
				}
				return
			}
			if !got.Invalid || len(got.Edges)+len(got.Platform) > 0 || len(got.Problems) != 1 ||
				!strings.Contains(got.Problems[0].Message, test.want) {
				t.Errorf("got %+v, want %q", got, test.want)
			}
			declaration.CheckProblems(t, got.Problems)
		})
	}
}

// It is accepted: Interlock may be updated after the add-on is applied.
func TestAdmissionWarnsOfAnotherInterlock(t *testing.T) {
	useInterlock(t, "0.2.5")
	for _, addOn := range []addonv1alpha1.ClusterManagementAddOn{
		fixture.Specified(t, "x", `requirements: {interlock: "^1"}`),
		fixture.Annotated("x", `{requirements: {interlock: "^1"}, sooner: true}`),
	} {
		reviewed := new(review.Reviewer).Review(&addOn, nil, nil)
		if len(reviewed.Denials) > 0 || len(reviewed.Warnings) != 1 ||
			!strings.Contains(reviewed.Warnings[0], "is for Interlock ^1, and this is 0.2.5") {
			t.Errorf("%+v", reviewed)
		}
	}
	addOn := fixture.Specified(t, "x", `requirements: {interlock: later}`)
	if reviewed := new(review.Reviewer).Review(&addOn, nil, nil); len(reviewed.Denials) != 1 ||
		!strings.Contains(reviewed.Denials[0], `spec.requirements.interlock: Invalid value: "later": must be a range`) {
		t.Errorf("%+v", reviewed)
	}
}

func TestAnAddOnTemplateForAnotherInterlock(t *testing.T) {
	useInterlock(t, "0.2.5")
	registered := catalog.New([]addonv1alpha1.ClusterManagementAddOn{fixture.Deployed(fixture.Registration("x"))},
		fixture.Template("x", "x-2", `{dependencies: [{name: a, sooner: true}], requirements: {interlock: ">= 0.3"}}`))
	_, declared, declares := registered.Template("x-2")
	problems := registered.TemplateProblems("x-2")
	if !declares || !declared.Invalid || len(problems) != 1 || problems[0].Reason != declaration.ProblemInterlockVersion ||
		!strings.HasPrefix(problems[0].Field, declaration.TemplatePath.String()) {
		t.Errorf("%+v %+v", declared, problems)
	}
}
