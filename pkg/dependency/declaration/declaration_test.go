package declaration

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/test/fixture"
)

type list = []addonv1alpha1.AddonDependency

func TestDeclare(t *testing.T) {
	message := func(d addonv1alpha1.AddonDependency, text string) addonv1alpha1.AddonDependency {
		d.Message = text
		return d
	}
	withField := func(addOn addonv1alpha1.ClusterManagementAddOn, dependencies list) addonv1alpha1.ClusterManagementAddOn {
		addOn.Spec.Dependencies = dependencies
		return addOn
	}
	huge := strings.Repeat("m", 100_000)

	cases := map[string]struct {
		reason   string
		addOn    addonv1alpha1.ClusterManagementAddOn
		want     list
		problems []ProblemReason
	}{
		"Neither": {
			reason: "no declaration is no problem",
			addOn:  fixture.Registration("x"),
		},
		"Field": {
			reason: "the field is taken in the order declared, messages included",
			addOn:  fixture.Registration("x", fixture.Optional("b"), message(fixture.Required("a"), "why")),
			want:   list{fixture.Optional("b"), message(fixture.Required("a"), "why")},
		},
		"DefaultType": {
			reason: "without a schema's default, no type means Required",
			addOn:  fixture.Registration("x", addonv1alpha1.AddonDependency{Name: "a"}),
			want:   list{fixture.Required("a")},
		},
		"EmptyField": {
			reason: "an empty list declares no dependencies",
			addOn:  withField(fixture.Registration("x"), list{}),
		},
		"FieldAndAnnotation": {
			reason:   "the field wins and a warning says so",
			addOn:    withField(fixture.Annotated("x", "- name: b"), list{fixture.Required("a")}),
			want:     list{fixture.Required("a")},
			problems: []ProblemReason{ProblemDeclaredTwice},
		},
		"EmptyFieldAndAnnotation": {
			reason:   "a field that is there wins even when empty",
			addOn:    withField(fixture.Annotated("x", "- name: b"), list{}),
			problems: []ProblemReason{ProblemDeclaredTwice},
		},
		"FieldAndBrokenAnnotation": {
			reason:   "an annotation that is ignored cannot break the field",
			addOn:    withField(fixture.Annotated("x", "{"), list{fixture.Required("a")}),
			want:     list{fixture.Required("a")},
			problems: []ProblemReason{ProblemDeclaredTwice},
		},
		"Duplicate": {
			reason:   "a name counts once, where it stands first",
			addOn:    fixture.Registration("x", fixture.Required("a"), fixture.Required("b"), message(fixture.Required("a"), "again")),
			want:     list{fixture.Required("a"), fixture.Required("b")},
			problems: []ProblemReason{ProblemDuplicate},
		},
		"DuplicateOptionalThenRequired": {
			reason:   "the stricter entry counts, with its message",
			addOn:    fixture.Registration("x", fixture.Optional("a"), fixture.Optional("b"), message(fixture.Required("a"), "must")),
			want:     list{message(fixture.Required("a"), "must"), fixture.Optional("b")},
			problems: []ProblemReason{ProblemDuplicate},
		},
		"DuplicateRequiredThenOptional": {
			reason:   "the stricter entry counts, in either order",
			addOn:    fixture.Registration("x", fixture.Required("a"), message(fixture.Optional("a"), "may")),
			want:     list{fixture.Required("a")},
			problems: []ProblemReason{ProblemDuplicate},
		},
		"DuplicateDefaultType": {
			reason:   "the default is applied before types are compared",
			addOn:    fixture.Registration("x", fixture.Optional("a"), addonv1alpha1.AddonDependency{Name: "a"}),
			want:     list{fixture.Required("a")},
			problems: []ProblemReason{ProblemDuplicate},
		},
		"Self": {
			reason: "a dependency on oneself is a cycle, which is the catalog's to find",
			addOn:  fixture.Registration("x", fixture.Required("x")),
			want:   list{fixture.Required("x")},
		},
		"HugeMessage": {
			reason: "a message is only bounded where it is written",
			addOn:  fixture.Registration("x", message(fixture.Required("a"), huge)),
			want:   list{message(fixture.Required("a"), huge)},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := Read(&tc.addOn)
			if diff := cmp.Diff(tc.want, got.Dependencies); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
			if got.Invalid {
				t.Errorf("%s: invalid: %v", tc.reason, got.Problems)
			}
			if diff := cmp.Diff(tc.problems, reasonsOf(got.Problems)); diff != "" {
				t.Errorf("%s: problems -want, +got:\n%s", tc.reason, diff)
			}
			for _, reason := range ProblemReasons {
				if want := strings.Contains(fmt.Sprint(tc.problems), string(reason)); hasProblem(got, reason) != want {
					t.Errorf("%s: problem %s = %t", tc.reason, reason, !want)
				}
			}
		})
	}
}

// A problem names the field and the value, fits on one line of an event, and explains
// the correction.
func TestProblemTexts(t *testing.T) {
	cases := map[string]struct {
		reason string
		addOn  addonv1alpha1.ClusterManagementAddOn
		want   []string
	}{
		"EmptyName": {
			reason: "a list may be wrong in several places; all are named",
			addOn:  fixture.Registration("x", fixture.Required(""), fixture.Required("a"), fixture.Required(" ")),
			want:   []string{"spec.dependencies[0].name", "spec.dependencies[2].name", "until it is corrected"},
		},
		"UnknownType": {
			reason: "the value and the values allowed are named",
			addOn:  fixture.Registration("x", addonv1alpha1.AddonDependency{Name: "a", Type: "Hard"}),
			want:   []string{"spec.dependencies[0].type", `"Hard"`, `"Optional", "Required"`},
		},
		"TypeIsCaseSensitive": {
			reason: "as in the schema",
			addOn:  fixture.Registration("x", addonv1alpha1.AddonDependency{Name: "a", Type: "required"}),
			want:   []string{`"required"`},
		},
		"HugeType": {
			reason: "a value of any size leaves the remedy readable",
			addOn: fixture.Registration(
				"x", addonv1alpha1.AddonDependency{Name: "a", Type: addonv1alpha1.DependencyType(strings.Repeat("ü", 100_000))},
			),
			want: []string{"spec.dependencies[0].type", `…": supported values: "Optional"`, "until it is corrected"},
		},
		"Duplicate": {
			reason: "the repeated entry is named with what counts",
			addOn:  fixture.Registration("x", fixture.Required("a"), fixture.Optional("a")),
			want:   []string{"spec.dependencies[1].name", `"a"`, "as Required"},
		},
		"DuplicateHugeName": {
			reason: "a name longer than a name can be is shortened",
			addOn:  fixture.Registration("x", fixture.Required(strings.Repeat("é", 9000)), fixture.Required(strings.Repeat("é", 9000))),
			want:   []string{"spec.dependencies[1].name", "…", "it counts once"},
		},
		"DeclaredTwice": {
			reason: "both places are named",
			addOn: func() addonv1alpha1.ClusterManagementAddOn {
				addOn := fixture.Annotated("x", "")
				addOn.Spec.Dependencies = list{fixture.Required("a")}
				return addOn
			}(),
			want: []string{
				"metadata.annotations[" + addonv1alpha1.DependenciesAnnotation + "]", "spec.dependencies",
				"Remove the annotation", "lost if the CRD loses them",
			},
		},
		"Annotation": {
			reason: "what an annotation holds is found by its path there",
			addOn:  fixture.Annotated("x", "- name: a\n- name: ''"),
			want:   []string{"metadata.annotations[" + addonv1alpha1.DependenciesAnnotation + "][1].name"},
		},
		"AnnotationRepeatedKey": {
			reason: "a parser's error of several lines becomes one",
			addOn:  fixture.Annotated("x", "- name: a\n  name: b"),
			want:   []string{`"name" already set`, "it must be the YAML or JSON of a list like spec.dependencies"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			problems := Read(&tc.addOn).Problems
			if len(problems) != 1 {
				t.Fatalf("%s: want one problem, got %v", tc.reason, problems)
			}
			for _, want := range tc.want {
				if !strings.Contains(problems[0].Message, want) {
					t.Errorf("%s: %q is not in %q", tc.reason, want, problems[0].Message)
				}
			}
			checkProblems(t, problems)
		})
	}
}

func checkProblems(t *testing.T, problems []Problem) {
	t.Helper()
	for _, problem := range problems {
		text := problem.Message
		if len(text) > MaxProblem || !utf8.ValidString(text) || strings.ContainsAny(text, "\n\r\t") {
			t.Errorf("a problem's text must be valid, on one line, at most %d bytes: %d bytes: %q", MaxProblem, len(text), text)
		}
	}
}

func hasProblem(d Declaration, reason ProblemReason) bool {
	return slices.ContainsFunc(d.Problems, func(p Problem) bool { return p.Reason == reason })
}
