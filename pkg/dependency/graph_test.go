package dependency

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

func TestDependents(t *testing.T) {
	c := catalogOf("c: base, a: base b?, b: base?, base:")
	cases := map[string]struct {
		reason, of string
		want       []string
	}{
		"Several":      {"dependents of either type, by name", "base", []string{"a", "b", "c"}},
		"Optional":     {"an Optional edge makes a dependent", "b", []string{"a"}},
		"None":         {"nobody depends on a leaf", "c", nil},
		"Unregistered": {"an unknown name has no dependents", "nobody", nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, c.Dependents(tc.of)); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
	if diff := cmp.Diff([]string{"a"}, catalogOf("a: gone").Dependents("gone")); diff != "" {
		t.Errorf("a dependency that is not registered has dependents too: %s", diff)
	}
}

func TestCycles(t *testing.T) {
	cases := map[string]struct {
		reason string
		addOns string
		want   map[string]map[string]string // add-on → dependency → cycle
	}{
		"None":           {"a diamond is no cycle", "a: b c, b: d, c: d, d:", nil},
		"Self":           {"depending on oneself is a cycle of one", "a: a", map[string]map[string]string{"a": {"a": "a a"}}},
		"SelfOptional":   {"an Optional edge breaks any cycle", "a: a?", nil},
		"Pair":           {"both see the same cycle", "b: a, a: b", map[string]map[string]string{"a": {"b": "a b a"}, "b": {"a": "a b a"}}},
		"PairBroken":     {"a two-way pair with an Optional edge is legal", "a: b, b: a?", nil},
		"PairUnbroken":   {"an Optional edge elsewhere breaks nothing", "a: b c?, b: a, c: a", map[string]map[string]string{"a": {"b": "a b a"}, "b": {"a": "a b a"}}},
		"Unregistered":   {"a name without registration has no edges", "a: b", nil},
		"Chain":          {"who depends on a cycle is not on it", "x: y, y: a, a: b, b: a", map[string]map[string]string{"a": {"b": "a b a"}, "b": {"a": "a b a"}}},
		"Out":            {"nor is what a cycle depends on", "a: b z, b: a, z:", map[string]map[string]string{"a": {"b": "a b a"}, "b": {"a": "a b a"}}},
		"SelfInPair":     {"each edge has its own cycle", "a: a b, b: a", map[string]map[string]string{"a": {"a": "a a", "b": "a b a"}, "b": {"a": "a b a"}}},
		"TwoApart":       {"cycles do not mix", "a: b, b: a, c: d b, d: c", map[string]map[string]string{"a": {"b": "a b a"}, "b": {"a": "a b a"}, "c": {"d": "c d c"}, "d": {"c": "c d c"}}},
		"Triangle":       {"all members see the canonical order, not the alphabet's", "a: c, c: b, b: a", map[string]map[string]string{"a": {"c": "a c b a"}, "b": {"a": "a c b a"}, "c": {"b": "a c b a"}}},
		"ShortestCycle":  {"of the ways back, the shortest", "a: b, b: c a, c: a", map[string]map[string]string{"a": {"b": "a b a"}, "b": {"a": "a b a", "c": "a b c a"}, "c": {"a": "a b c a"}}},
		"SmallestByName": {"of equally short ways back, the smallest by name", "a: b, b: d c, c: a, d: a", map[string]map[string]string{"a": {"b": "a b c a"}, "b": {"c": "a b c a", "d": "a b d a"}, "c": {"a": "a b c a"}, "d": {"a": "a b d a"}}},
		"FigureEight": {"a node on two cycles has one on each edge", "a: m, m: a z, z: m", map[string]map[string]string{
			"a": {"m": "a m a"}, "m": {"a": "a m a", "z": "m z m"}, "z": {"m": "m z m"},
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			addOns := registrations(tc.addOns)
			for range 20 {
				random(1).Shuffle(len(addOns), func(i, j int) { addOns[i], addOns[j] = addOns[j], addOns[i] })
				for _, addOn := range addOns {
					slices.Reverse(addOn.Spec.Dependencies)
				}
				if diff := cmp.Diff(tc.want, allCycles(NewCatalog(addOns))); diff != "" {
					t.Fatalf("%s: -want, +got:\n%s", tc.reason, diff)
				}
			}
		})
	}
}

func allCycles(c *Catalog) map[string]map[string]string {
	var all map[string]map[string]string
	for _, addOn := range c.AddOns() {
		for dependency, cycle := range c.Cycles(addOn) {
			if all == nil {
				all = map[string]map[string]string{}
			}
			if all[addOn] == nil {
				all[addOn] = map[string]string{}
			}
			all[addOn][dependency] = strings.Join(cycle, " ")
		}
	}
	return all
}

func TestCyclesAreKept(t *testing.T) {
	c := catalogOf("a: b, b: a")
	if a, b := c.Cycles("a"), c.Cycles("a"); &a["b"][0] != &b["b"][0] {
		t.Error("a cycle is looked for once, not once per cluster")
	}
}

func TestLongChain(t *testing.T) {
	const length = 100_000
	edges := map[string][]link{}
	for i := range length {
		edges[strconv.Itoa(i)] = []link{{to: strconv.Itoa(i + 1), required: true}}
	}
	if cycles := newGraph(edges).cycles("0"); cycles != nil {
		t.Errorf("a chain has no cycle, got %d", len(cycles))
	}
	edges[strconv.Itoa(length)] = []link{{to: "0", required: true}}
	if got := len(newGraph(edges).cycles("0")["1"]); got != length+2 {
		t.Errorf("closed, it is one of %d steps, got %d", length+1, got)
	}
}

func TestDenseGraph(t *testing.T) {
	const size = 500
	addOns := make([]addonv1alpha1.ClusterManagementAddOn, size)
	for i := range addOns {
		addOns[i] = registration(strconv.Itoa(i))
		for j := range size {
			if i != j {
				addOns[i].Spec.Dependencies = append(addOns[i].Spec.Dependencies, required(strconv.Itoa(j)))
			}
		}
	}
	c := NewCatalog(addOns)
	if changed := c.Changed(NewCatalog(addOns)); changed != nil {
		t.Errorf("nothing changed, got %v", changed)
	}
	for range 2000 { // an evaluation per cluster
		if got := len(c.Evaluate("7", Cluster{}, nil)); got != size-1 {
			t.Fatalf("want %d findings, got %d", size-1, got)
		}
	}
}

// FuzzGraph reads edges from pairs of bytes and compares what the graph says
// with all-pairs distances.
func FuzzGraph(f *testing.F) {
	for _, seed := range []string{"\x00\x00", "\x00\x01\x01\x00", "\x00\x01\x01\x02\x02\x00", "\x00\x81\x01\x00", "\x01\x02\x02\x01\x02\x03\x03\x02"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		const size = 12
		declared := [size]list{}
		var edge [size][size]bool
		for ; len(data) > 1; data = data[2:] {
			from, to := int(data[0])%size, int(data[1]&0x7f)%size
			if data[1] < 0x80 {
				edge[from][to] = true
				declared[from] = append(declared[from], required(label(to)))
			} else {
				declared[from] = append(declared[from], optional(label(to)))
			}
		}
		var addOns []addonv1alpha1.ClusterManagementAddOn
		for i, dependencies := range declared {
			addOns = append(addOns, registration(label(i), dependencies...))
		}
		c := NewCatalog(addOns)
		steps := distances(edge)
		for from := range size {
			want := map[string]int{}
			for to := range size {
				if edge[from][to] && steps[to][from] < unreachable {
					want[label(to)] = steps[to][from] + 1
				}
			}
			cycles := c.Cycles(label(from))
			if want := slices.Sorted(maps.Keys(want)); !slices.Equal(want, slices.Sorted(maps.Keys(cycles))) {
				t.Fatalf("%s: want cycles by %v, got %v", label(from), want, cycles)
			}
			for to, cycle := range cycles {
				checkCycle(t, cycle, label(from), to, want[to], edge)
			}
		}
	})
}

const unreachable = 1000

func label(i int) string { return fmt.Sprintf("addon-%02d", i) }

// distances counts the edges between all nodes, none from a node to itself.
func distances(edge [12][12]bool) (steps [12][12]int) {
	for i := range steps {
		for j := range steps {
			switch {
			case i == j:
				steps[i][j] = 0
			case edge[i][j]:
				steps[i][j] = 1
			default:
				steps[i][j] = unreachable
			}
		}
	}
	for k := range steps {
		for i := range steps {
			for j := range steps {
				steps[i][j] = min(steps[i][j], steps[i][k]+steps[k][j])
			}
		}
	}
	return steps
}

func checkCycle(t *testing.T, cycle []string, from, to string, length int, edge [12][12]bool) {
	t.Helper()
	number := func(name string) (i int) {
		if _, err := fmt.Sscanf(name, "addon-%d", &i); err != nil {
			t.Fatalf("%q: %v", name, err)
		}
		return i
	}
	if len(cycle) != length+1 || cycle[0] != cycle[len(cycle)-1] || cycle[0] != slices.Min(cycle) {
		t.Errorf("%s: want %d steps, closed, from the smallest member: %v", from, length, cycle)
	}
	var used bool
	for i := range len(cycle) - 1 {
		if !edge[number(cycle[i])][number(cycle[i+1])] {
			t.Errorf("%v: no Required edge %s → %s", cycle, cycle[i], cycle[i+1])
		}
		used = used || cycle[i] == from && cycle[i+1] == to
	}
	if members := slices.Compact(slices.Sorted(slices.Values(cycle[1:]))); !used || len(members) != length {
		t.Errorf("%v does not use %s → %s, or visits a member twice", cycle, from, to)
	}
}
