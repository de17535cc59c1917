package review

import (
	"fmt"
	"strings"
	"testing"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/test/fixture"
)

func TestConflicts(t *testing.T) {
	wanting := func(name, spec string) addonv1alpha1.ClusterManagementAddOn {
		return fixture.Specified(t, name, "dependencies: ["+spec+"]")
	}
	const with, apply = "no version matches both, so one of them fails on a cluster with both",
		"no version matches both, so one of them fails on a cluster where both apply"
	for name, test := range map[string]struct {
		all  []addonv1alpha1.ClusterManagementAddOn
		want string
	}{
		"ranges that exclude each other": {
			[]addonv1alpha1.ClusterManagementAddOn{wanting("a", `{name: c, version: ">=2"}`), wanting("b", `{name: c, version: "<2"}`)},
			`spec.dependencies[0]: "c" is needed in version >=2 here, and in <2 by "b": ` + with,
		},
		"ranges with a version in common": {
			[]addonv1alpha1.ClusterManagementAddOn{wanting("a", `{name: c, version: ">=2"}`), wanting("b", `{name: c, version: "<2.1"}`)}, "",
		},
		"one range only": {[]addonv1alpha1.ClusterManagementAddOn{wanting("a", `{name: c, version: ">=2"}`), wanting("b", `{name: c}`)}, ""},
		"on other add-ons": {
			[]addonv1alpha1.ClusterManagementAddOn{wanting("a", `{name: c, version: ">=2"}`), wanting("b", `{name: d, version: "<2"}`)}, "",
		},
		"an alias, with a condition": {
			[]addonv1alpha1.ClusterManagementAddOn{
				wanting("a", `{name: c, version: ">=2"}`),
				wanting("b", `{name: local, addOn: c, version: "<2", when: {clusterSelector: {matchLabels: {x: y}}}}`),
			},
			`spec.dependencies[0]: "c" is needed in version >=2 here, and in <2 by "b": ` + apply,
		},
		"of one add-on, reported once": {
			[]addonv1alpha1.ClusterManagementAddOn{wanting("a", `{name: c, version: ">=2"}, {name: old, addOn: c, version: "<2"}`)},
			`spec.dependencies[0]: "c" is needed in version >=2 here, and in <2 by "a": ` + with,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, warning := range new(Reviewer).Review(&test.all[0], nil, append(test.all, fixture.Registrations("c:, d:")...)).Warnings {
				got = append(got, warning)
			}
			if strings.Join(got, "\n") != test.want {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}

// What a review compares and reports is bounded, whatever others declare.
func TestConflictsAreBounded(t *testing.T) {
	added := fixture.Specified(t, "added", `dependencies: [{name: c, version: ">=2"}]`)
	others := fixture.Registrations("c:")
	for i := range 2 * maxCompared {
		name := fmt.Sprintf("other-%04d", i)
		if i < maxCompared-3 || i >= maxCompared { // three are compared that exclude it
			others = append(others, fixture.Specified(t, name, `dependencies: [{name: c, version: ">=2"}]`))
		} else {
			others = append(others, fixture.Specified(t, name, `dependencies: [{name: c, version: "<2"}]`))
		}
	}
	if got := new(Reviewer).Review(&added, nil, others).Warnings; len(got) != 3 {
		t.Errorf("%d warnings", len(got))
	}
	for i := range others[1:] {
		others[1+i] = fixture.Specified(t, others[1+i].Name, `dependencies: [{name: c, version: "<2"}]`)
	}
	if got := new(Reviewer).Review(&added, nil, others).Warnings; len(got) != maxConflicts {
		t.Errorf("%d warnings", len(got))
	}
}

func TestName(t *testing.T) {
	for name, want := range map[string]string{"": "Required value", "a_b": `Invalid value: "a_b"`, "a-b": ""} {
		judged := Name(name)
		if want == "" && len(judged) == 0 {
			continue
		}
		if len(judged) != 1 || !judged[0].Wrong || want == "" || !strings.Contains(judged[0].Message, want) {
			t.Errorf("%q: %v", name, judged)
		}
	}
}
