package policy

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/test/fixture"
)

var now = time.Date(2026, 8, 1, 10, 0, 0, 0, time.UTC)

// override is a policy with one override, of the edge b of a.
func override(rest string) string { return `overrides: [{addOn: a, dependency: b, ` + rest + `}]` }

func TestTogether(t *testing.T) {
	const (
		edge    = "clusterSelector: {matchLabels: {tier: edge}}\n"
		waived  = `waive: {reason: mirrored by hand, until: "2026-08-02T10:00:00Z"}`
		longer  = `waive: {reason: later, until: "2026-08-03T10:00:00Z"}`
		ended   = `waive: {reason: over, until: "2026-08-01T10:00:00Z"}`
		tooLong = `waive: {reason: for ever, until: "2027-08-02T10:00:01Z"}`
	)
	day := func(n int) time.Time { return time.Date(2026, 8, n, 10, 0, 0, 0, time.UTC) }
	for name, test := range map[string]struct {
		policies []string // their specs; named p0, p1 …
		labels   map[string]string
		want     Effect
	}{
		"none": {nil, nil, Effect{}},
		"another edge": {
			[]string{`overrides: [{addOn: a, dependency: c, type: Optional}, {addOn: c, dependency: b, type: Optional}]`},
			nil,
			Effect{},
		},
		"everywhere": {[]string{override("type: Optional")}, nil, Effect{Policies: []string{"p0"}, Type: "Optional"}},
		"selected": {
			[]string{edge + override("type: Optional")},
			map[string]string{"tier": "edge"},
			Effect{Policies: []string{"p0"}, Type: "Optional"},
		},
		"not selected": {[]string{edge + override("type: Optional")}, map[string]string{"tier": "core"}, Effect{}},
		"an empty selector": {
			[]string{"clusterSelector: {}\n" + override("type: Optional")},
			nil,
			Effect{Policies: []string{"p0"}, Type: "Optional"},
		},
		"a version": {
			[]string{override(`version: ">= 0.9"`)}, nil, Effect{Policies: []string{"p0"}, Versions: []string{">= 0.9"}},
		},
		"both of one policy": {
			[]string{override(`version: ">= 0.9", type: IfInstalled`)},
			nil,
			Effect{Policies: []string{"p0"}, Type: "IfInstalled", Versions: []string{">= 0.9"}},
		},
		"one each is no conflict": {
			[]string{override(`version: ">= 0.9"`), override("type: Optional")},
			nil,
			Effect{Policies: []string{"p0", "p1"}, Type: "Optional", Versions: []string{">= 0.9"}},
		},
		"the same is no conflict": {
			[]string{override(`version: ">= 0.9", type: Optional`), override(`version: ">= 0.9", type: Optional`)},
			nil,
			Effect{Policies: []string{"p0", "p1"}, Type: "Optional", Versions: []string{">= 0.9"}},
		},
		"the stricter type": {
			[]string{override("type: Optional"), override("type: Required"), override("type: IfInstalled")},
			nil,
			Effect{Policies: []string{"p0", "p1", "p2"}, Type: "Required", Conflicting: true},
		},
		"IfInstalled is stricter than Optional": {
			[]string{override("type: Optional"), override("type: IfInstalled")},
			nil,
			Effect{Policies: []string{"p0", "p1"}, Type: "IfInstalled", Conflicting: true},
		},
		"both ranges": {
			[]string{override(`version: ">= 0.9"`), override(`version: "< 2"`)},
			nil,
			Effect{Policies: []string{"p0", "p1"}, Versions: []string{">= 0.9", "< 2"}, Conflicting: true},
		},
		"waived": {
			[]string{override(waived)},
			nil,
			Effect{Policies: []string{"p0"}, Waived: true, Until: day(2), Reasons: []string{"AddOnDependencyPolicy 'p0': mirrored by hand"}},
		},
		"two waivers end with the last": {
			[]string{override(longer), override(waived)},
			nil,
			Effect{Policies: []string{"p0", "p1"}, Waived: true, Until: day(3), Reasons: []string{
				"AddOnDependencyPolicy 'p0': later", "AddOnDependencyPolicy 'p1': mirrored by hand",
			}},
		},
		"a waiver that has ended says nothing": {[]string{override(ended)}, nil, Effect{}},
		"one that has ended is no conflict": {
			[]string{override(ended), override("type: Optional")},
			nil,
			Effect{Policies: []string{"p1"}, Type: "Optional"},
		},
		"what is wanted is stricter than a waiver": {
			[]string{override(waived), override("type: Optional")},
			nil,
			Effect{Policies: []string{"p0", "p1"}, Type: "Optional", Conflicting: true},
		},
		"whichever comes first": {
			[]string{override(`version: "1"`), override(waived)},
			nil,
			Effect{Policies: []string{"p0", "p1"}, Versions: []string{"1"}, Conflicting: true},
		},
		"conflicts are of those for one cluster": {[]string{
			edge + override("type: Optional"),
			override("type: Required"),
		}, nil, Effect{Policies: []string{"p1"}, Type: "Required"}},
		"a waiver for longer than a year": {
			[]string{override(tooLong)},
			nil,
			Effect{
				Policies: []string{"p0"},
				Unknown:  "AddOnDependencyPolicy 'p0': spec.overrides[0].waive.until: 2027-08-02T10:00:01Z is more than 366 days from now",
				Until:    now.Add(time.Second),
			},
		},
		"a range that is none": {
			[]string{override(`version: "newest"`), override(waived)},
			nil,
			Effect{Policies: []string{"p0", "p1"}, Unknown: `AddOnDependencyPolicy 'p0': spec.overrides[0].version: Invalid value: "newest": ` +
				`must be a range of semantic versions, such as ">= 1.2 < 2.0", "^1.2" or "1.2.x || 1.4.x"`},
		},
		"a type that is none": {
			[]string{override("type: Conflicts")},
			nil,
			Effect{
				Policies: []string{"p0"},
				Unknown: `AddOnDependencyPolicy 'p0': spec.overrides[0].type: Unsupported value: "Conflicts": ` +
					`supported values: "Required", "Optional", "IfInstalled"`,
			},
		},
		"both a waiver and a type": {
			[]string{override("type: Optional, " + waived)},
			nil,
			Effect{
				Policies: []string{"p0"},
				Unknown:  `AddOnDependencyPolicy 'p0': spec.overrides[0]: Invalid value: "b": either waive, or version and type, must be set`,
			},
		},
		"nothing": {
			[]string{override("")},
			nil,
			Effect{
				Policies: []string{"p0"},
				Unknown:  `AddOnDependencyPolicy 'p0': spec.overrides[0]: Invalid value: "b": either waive, or version and type, must be set`,
			},
		},
		"a waiver without an end": {
			[]string{override("waive: {reason: x}")},
			nil,
			Effect{
				Policies: []string{"p0"},
				Unknown:  `AddOnDependencyPolicy 'p0': spec.overrides[0].waive: Required value: reason and until must be set`,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var policies []dependencyv1alpha1.AddOnDependencyPolicy
			for i, spec := range test.policies {
				policies = append(
					[]dependencyv1alpha1.AddOnDependencyPolicy{fixture.Policy(t, "p"+string(rune('0'+i)), spec)},
					policies...)
			}
			got := Combine(Read(policies).Overrides("a", "b"), test.labels, now)
			if diff := cmp.Diff(test.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("-want, +got:\n%s", diff)
			}
		})
	}
}

// A policy with a selector that cannot be read may be for any managed cluster.
func TestSelectorThatCannotBeRead(t *testing.T) {
	policies := Read(
		[]dependencyv1alpha1.AddOnDependencyPolicy{
			fixture.Policy(t, "p0", "clusterSelector: {matchExpressions: [{key: a, operator: Near}]}\n"+override("type: Optional")),
		},
	)
	got := Combine(policies.Overrides("a", "b"), nil, now)
	if !strings.HasPrefix(got.Unknown, "AddOnDependencyPolicy 'p0': spec.clusterSelector: ") || got.Type != "" {
		t.Errorf("%+v", got)
	}
}

func TestEqual(t *testing.T) {
	const spec = `version: ">= 1", type: Optional`
	read := func(name, spec string) *Override {
		return Read([]dependencyv1alpha1.AddOnDependencyPolicy{fixture.Policy(t, name, spec)}).Overrides("a", "b")[0]
	}
	if !read("p", override(spec)).Equal(read("p", override(spec))) {
		t.Error("the same differ")
	}
	for name, different := range map[string]*Override{
		"policy":   read("q", override(spec)),
		"selector": read("p", "clusterSelector: {matchLabels: {a: b}}\n"+override(spec)),
		"type":     read("p", override(`version: ">= 1"`)),
		"version":  read("p", override(`version: ">= 2", type: Optional`)),
		"waiver":   read("p", override(`waive: {reason: x, until: "2026-08-02T10:00:00Z"}`)),
	} {
		if read("p", override(spec)).Equal(different) {
			t.Errorf("another %s is the same", name)
		}
	}
}
