package catalog

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"open-cluster-management.io/interlock/test/fixture"
)

func TestDependents(t *testing.T) {
	c := catalogOf("c: base, a: base b?, b: base?, base:")
	cases := map[string]struct {
		reason, addOn string
		want          []string
	}{
		"Several":      {"dependents of either type, by name", "base", []string{"a", "b", "c"}},
		"Optional":     {"an Optional edge makes a dependent", "b", []string{"a"}},
		"None":         {"no add-on depends on a leaf", "c", nil},
		"Unregistered": {"an unknown name has no dependents", "missing", nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, c.Dependents(tc.addOn)); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
	if diff := cmp.Diff([]string{"a"}, catalogOf("a: gone").Dependents("gone")); diff != "" {
		t.Errorf("a dependency that is not registered has dependents too: %s", diff)
	}
}

// Only Required edges without a condition close a cycle on every cluster.
func TestCycles(t *testing.T) {
	pair := map[string][]string{"a": {"a b a"}, "b": {"a b a"}}
	cases := map[string]struct {
		reason, addOns string
		want           map[string][]string // add-on → its cycles
	}{
		"None":         {"a diamond is no cycle", "a: b c, b: d, c: d, d:", nil},
		"Self":         {"depending on oneself is a cycle of one", "a: a", map[string][]string{"a": {"a a"}}},
		"SelfOptional": {"an Optional edge breaks any cycle", "a: a?", nil},
		"Pair":         {"both see the same cycle", "b: a, a: b", pair},
		"PairBroken":   {"a two-way pair with an Optional edge is legal", "a: b, b: a?", nil},
		"PairUnbroken": {"an Optional edge elsewhere breaks nothing", "a: b c?, b: a, c: a", pair},
		"Unregistered": {"a name without registration has no edges", "a: b", nil},
		"Conditional":  {"a condition may not hold", "a: b!private, b: a", nil},
		"IfInstalled":  {"a dependency on a version is not waited for", "a: b%, b: a", nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			addOns := fixture.Conditional(tc.addOns)
			for range 20 {
				fixture.Random(1).Shuffle(len(addOns), func(i, j int) { addOns[i], addOns[j] = addOns[j], addOns[i] })
				for _, addOn := range addOns {
					slices.Reverse(addOn.Spec.Dependencies)
				}
				c := New(addOns)
				var got map[string][]string
				for _, addOn := range c.AddOns() {
					for _, dependency := range slices.Sorted(maps.Keys(c.Cycles(addOn))) {
						if got == nil {
							got = map[string][]string{}
						}
						got[addOn] = append(got[addOn], strings.Join(c.Cycles(addOn)[dependency], " "))
					}
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Fatalf("%s: -want, +got:\n%s", tc.reason, diff)
				}
			}
		})
	}
}
