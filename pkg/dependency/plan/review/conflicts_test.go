package review

import (
	"fmt"
	"strings"
	"testing"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/test/fixture"
)

func TestConflicts(t *testing.T) {
	wanting := func(name, spec string) addonv1alpha1.ClusterManagementAddOn {
		return fixture.Specified(t, name, "dependencies: ["+spec+"]")
	}
	const bothInstalled, bothApply = "no version matches both, so one of them fails on a cluster with both",
		"no version matches both, so one of them fails on a cluster where both apply"
	for name, test := range map[string]struct {
		addOns []addonv1alpha1.ClusterManagementAddOn
		want   string
	}{
		"ranges that exclude each other": {
			[]addonv1alpha1.ClusterManagementAddOn{wanting("a", `{name: c, version: ">=2"}`), wanting("b", `{name: c, version: "<2"}`)},
			`spec.dependencies[0]: "c" is needed in version >=2 here, and in <2 by "b": ` + bothInstalled,
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
			`spec.dependencies[0]: "c" is needed in version >=2 here, and in <2 by "b": ` + bothApply,
		},
		"of one add-on, reported once": {
			[]addonv1alpha1.ClusterManagementAddOn{wanting("a", `{name: c, version: ">=2"}, {name: old, addOn: c, version: "<2"}`)},
			`spec.dependencies[0]: "c" is needed in version >=2 here, and in <2 by "a": ` + bothInstalled,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := new(Reviewer).Review(&test.addOns[0], nil, append(test.addOns, fixture.Registrations("c:, d:")...)).Warnings
			if strings.Join(got, "\n") != test.want {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}

// The comparisons and reports of a review are bounded, even for a large declaration.
func TestConflictsAreBounded(t *testing.T) {
	long := func(major int) string { // a range with many versions to try
		text := fmt.Sprintf("= %d.0.0", major)
		for i := 0; len(text) < 240; i++ {
			text += fmt.Sprintf(" || = %d.%d.0", major, i)
		}
		return text
	}
	var own, others []addonv1alpha1.ClusterManagementAddOn
	aliases := func(name string, accepted func(int) string) addonv1alpha1.ClusterManagementAddOn {
		addOn := fixture.Registration(name)
		for i := range 256 {
			edge := fixture.Required(fmt.Sprintf("alias-%d", i))
			edge.AddOn, edge.Version = "c", accepted(i)
			addOn.Spec.Dependencies = append(addOn.Spec.Dependencies, edge)
		}
		return addOn
	}
	for range 500 {
		others = append(others, aliases(fmt.Sprintf("other-%03d", len(others)), func(i int) string { return fmt.Sprintf(">= 0.0.%d", i+1) }))
	}
	own = append(own, aliases("exclude", long), aliases("overlap", func(i int) string { return fmt.Sprintf("%s || >= %d", long(i), i) }))
	for i, want := range []int{maxConflicts, 0} {
		if got := conflicts(own[i].Name, declaration.Read(&own[i]), (*catalog.Outline)(nil).Renew(append(others, own...))); len(got) != want {
			t.Errorf("%s: %d conflicts, want %d", own[i].Name, len(got), want)
		}
	}
}

func TestName(t *testing.T) {
	for name, want := range map[string]string{"": "Required value", "a_b": `Invalid value: "a_b"`, "a-b": ""} {
		judgements := Name(name)
		if want == "" && len(judgements) == 0 {
			continue
		}
		if len(judgements) != 1 || !judgements[0].Wrong || want == "" || !strings.Contains(judgements[0].Message, want) {
			t.Errorf("%q: %v", name, judgements)
		}
	}
}
