package graph

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// edgesOf reads "a: b c, b: a": a node, then its dependencies.
func edgesOf(text string) map[string][]string {
	edges := map[string][]string{}
	for entry := range strings.SplitSeq(text, ",") {
		node, dependencies, _ := strings.Cut(strings.TrimSpace(entry), ":")
		edges[node] = strings.Fields(dependencies)
	}
	return edges
}

func TestNeighbors(t *testing.T) {
	g := New(edgesOf("c: base, a: base b base, b: base, base:, self: self, x: gone"))
	cases := map[string]struct {
		reason, node                        string
		dependencies, dependents, reachable []string
	}{
		"Several": {reason: "dependents by name, each once", node: "base", dependents: []string{"a", "b", "c"}},
		"Direct": {
			reason: "only direct ones are neighbors", node: "a", dependencies: []string{"b", "base"},
			reachable: []string{"b", "base"},
		},
		"Middle": {
			reason: "in both directions", node: "b", dependencies: []string{"base"}, dependents: []string{"a"},
			reachable: []string{"base"},
		},
		"Self": {
			reason: "a node can be its own neighbor", node: "self", dependencies: []string{"self"}, dependents: []string{"self"},
			reachable: []string{"self"},
		},
		"OnlyNamed":    {reason: "a dependency without an entry is a node", node: "gone", dependents: []string{"x"}},
		"Unregistered": {reason: "an unknown node has no neighbors", node: "missing"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.dependencies, g.Dependencies(tc.node)); diff != "" {
				t.Errorf("%s: dependencies -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.dependents, g.Dependents(tc.node)); diff != "" {
				t.Errorf("%s: dependents -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.reachable, g.Reachable(tc.node)); diff != "" {
				t.Errorf("%s: reachable -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestOrder(t *testing.T) {
	cases := map[string]struct {
		reason, edges string
		order, cyclic [][]string
	}{
		"Chain":     {"dependencies come first", "a: b, b: c", [][]string{{"c"}, {"b"}, {"a"}}, nil},
		"Diamond":   {"each node once", "a: b c, b: d, c: d", [][]string{{"d"}, {"b"}, {"c"}, {"a"}}, nil},
		"Apart":     {"by name where nothing else decides", "b:, a:", [][]string{{"a"}, {"b"}}, nil},
		"Cycle":     {"members share an entry", "a: b, b: c x, c: b", [][]string{{"x"}, {"b", "c"}, {"a"}}, [][]string{{"b", "c"}}},
		"Self":      {"a cycle of one", "a: a", [][]string{{"a"}}, [][]string{{"a"}}},
		"TwoCycles": {"that do not mix", "d: c, c: d a, a: b, b: a", [][]string{{"a", "b"}, {"c", "d"}}, [][]string{{"a", "b"}, {"c", "d"}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			g := New(edgesOf(tc.edges))
			if diff := cmp.Diff(tc.order, g.Order()); diff != "" {
				t.Errorf("%s: order -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.cyclic, g.Cyclic(), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s: cyclic -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestCycles(t *testing.T) {
	cases := map[string]struct {
		reason string
		edges  string
		want   map[string]map[string]string // node → dependency → cycle
	}{
		"None":         {"a diamond is no cycle", "a: b c, b: d, c: d, d:", nil},
		"Self":         {"depending on oneself is a cycle of one", "a: a", map[string]map[string]string{"a": {"a": "a a"}}},
		"Pair":         {"both see the same cycle", "b: a, a: b", map[string]map[string]string{"a": {"b": "a b a"}, "b": {"a": "a b a"}}},
		"Unregistered": {"a name without an entry has no edges", "a: b", nil},
		"Chain": {
			"what depends on a cycle is not on it", "x: y, y: a, a: b, b: a",
			map[string]map[string]string{"a": {"b": "a b a"}, "b": {"a": "a b a"}},
		},
		"Out": {
			"nor is what a cycle depends on", "a: b z, b: a, z:",
			map[string]map[string]string{"a": {"b": "a b a"}, "b": {"a": "a b a"}},
		},
		"SelfInPair": {
			"each edge has its own cycle", "a: a b, b: a",
			map[string]map[string]string{"a": {"a": "a a", "b": "a b a"}, "b": {"a": "a b a"}},
		},
		"TwoApart": {
			"cycles do not mix", "a: b, b: a, c: d b, d: c",
			map[string]map[string]string{"a": {"b": "a b a"}, "b": {"a": "a b a"}, "c": {"d": "c d c"}, "d": {"c": "c d c"}},
		},
		"Triangle": {
			"all members see the canonical order, not the alphabet's", "a: c, c: b, b: a",
			map[string]map[string]string{"a": {"c": "a c b a"}, "b": {"a": "a c b a"}, "c": {"b": "a c b a"}},
		},
		"ShortestCycle": {
			"of the ways back, the shortest", "a: b, b: c a, c: a",
			map[string]map[string]string{"a": {"b": "a b a"}, "b": {"a": "a b a", "c": "a b c a"}, "c": {"a": "a b c a"}},
		},
		"SmallestByName": {
			"of equally short ways back, the smallest by name", "a: b, b: d c, c: a, d: a",
			map[string]map[string]string{"a": {"b": "a b c a"}, "b": {"c": "a b c a", "d": "a b d a"}, "c": {"a": "a b c a"}, "d": {"a": "a b d a"}},
		},
		"FigureEight": {"a node on two cycles has one on each edge", "a: m, m: a z, z: m", map[string]map[string]string{
			"a": {"m": "a m a"}, "m": {"a": "a m a", "z": "m z m"}, "z": {"m": "m z m"},
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			edges := edgesOf(tc.edges)
			for range 20 {
				for _, dependencies := range edges {
					slices.Reverse(dependencies)
				}
				if diff := cmp.Diff(tc.want, allCycles(New(edges))); diff != "" {
					t.Fatalf("%s: -want, +got:\n%s", tc.reason, diff)
				}
			}
		})
	}
}

func allCycles(g *Graph) map[string]map[string]string {
	var cycles map[string]map[string]string
	for _, node := range g.names {
		for dependency, cycle := range g.Cycles(node) {
			if cycles == nil {
				cycles = map[string]map[string]string{}
			}
			if cycles[node] == nil {
				cycles[node] = map[string]string{}
			}
			cycles[node][dependency] = strings.Join(cycle, " ")
		}
	}
	return cycles
}

func TestCyclesAreKept(t *testing.T) {
	g := New(edgesOf("a: b, b: a"))
	if a, b := g.Cycles("a"), g.Cycles("a"); &a["b"][0] != &b["b"][0] {
		t.Error("a cycle is looked for once, not once per cluster")
	}
}

func TestLongChain(t *testing.T) {
	const length = 100_000
	edges := map[string][]string{}
	for i := range length {
		edges[strconv.Itoa(i)] = []string{strconv.Itoa(i + 1)}
	}
	if cycles := New(edges).Cycles("0"); cycles != nil {
		t.Errorf("a chain has no cycle, got %d", len(cycles))
	}
	edges[strconv.Itoa(length)] = []string{"0"}
	if got := len(New(edges).Cycles("0")["1"]); got != length+2 {
		t.Errorf("closed, it is one of %d steps, got %d", length+1, got)
	}
}

// CyclesWhere finds the cycles of the graph that has only the edges that apply.
func TestCyclesWhere(t *testing.T) {
	closed := 0
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 0))
		edges, applying := map[string][]string{}, map[string][]string{}
		applies := map[[2]string]bool{}
		for range 1 + r.IntN(20) {
			source, target := label(r.IntN(size)), label(r.IntN(size))
			edges[source] = append(edges[source], target)
			if applies[[2]string{source, target}] = r.IntN(3) > 0; applies[[2]string{source, target}] {
				applying[source] = append(applying[source], target)
			}
		}
		for source, list := range applying { // a later draw of the same edge decides
			applying[source] = slices.DeleteFunc(list, func(target string) bool { return !applies[[2]string{source, target}] })
		}
		g, want := New(edges), New(applying)
		for _, node := range g.names {
			got := g.CyclesWhere(node, func(source, target string) bool { return applies[[2]string{source, target}] })
			if diff := cmp.Diff(want.Cycles(node), got); diff != "" {
				t.Fatalf("seed %d, %s: -want, +got:\n%s", seed, node, diff)
			}
			closed += len(got)
		}
	}
	if closed < 500 {
		t.Errorf("only %d cycles to compare", closed)
	}
}

// FuzzGraph reads edges from pairs of bytes and compares the graph with all-pairs
// distances.
func FuzzGraph(f *testing.F) {
	for _, seed := range []string{"\x00\x00", "\x00\x01\x01\x00", "\x00\x01\x01\x02\x02\x00", "\x00\x01", "\x01\x02\x02\x01\x02\x03\x03\x02"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var edge [size][size]bool
		edges := map[string][]string{}
		for i := range size {
			edges[label(i)] = nil
		}
		for ; len(data) > 1; data = data[2:] {
			source, target := int(data[0])%size, int(data[1])%size
			edge[source][target] = true
			edges[label(source)] = append(edges[label(source)], label(target))
		}
		g, steps := New(edges), distances(edge)
		checkOrder(t, g, steps)
		for source := range size {
			want, reached := map[string]int{}, []string(nil)
			for target := range size {
				if edge[source][target] && steps[target][source] < unreachable {
					want[label(target)] = steps[target][source] + 1
				}
				if reaches(edge, steps, source, target) {
					reached = append(reached, label(target))
				}
			}
			if got := g.Reachable(label(source)); !slices.Equal(got, reached) {
				t.Fatalf("%s: reaches %v, want %v", label(source), got, reached)
			}
			cycles := g.Cycles(label(source))
			if want := slices.Sorted(maps.Keys(want)); !slices.Equal(want, slices.Sorted(maps.Keys(cycles))) {
				t.Fatalf("%s: want cycles by %v, got %v", label(source), want, cycles)
			}
			for target, cycle := range cycles {
				checkCycle(t, cycle, label(source), target, want[target], edge)
			}
		}
	})
}

const (
	size        = 12
	unreachable = 1000
)

func label(i int) string { return fmt.Sprintf("addon-%02d", i) }

// distances counts the edges between all nodes, none from a node to itself.
func distances(edge [size][size]bool) (steps [size][size]int) {
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

// reaches reports whether at least one edge leads from one node to the other.
func reaches(edge [size][size]bool, steps [size][size]int, source, target int) bool {
	for middle := range size {
		if edge[source][middle] && steps[middle][target] < unreachable {
			return true
		}
	}
	return false
}

// checkOrder holds every node to the place after those that it reaches and that
// do not reach it.
func checkOrder(t *testing.T, g *Graph, steps [size][size]int) {
	t.Helper()
	place := map[string]int{}
	for i, members := range g.Order() {
		if !slices.IsSorted(members) {
			t.Errorf("members out of order: %v", members)
		}
		for _, member := range members {
			place[member] = i
		}
	}
	if len(place) != size {
		t.Fatalf("%d nodes in order, want %d", len(place), size)
	}
	for source := range size {
		for target := range size {
			forward, back := steps[source][target] < unreachable, steps[target][source] < unreachable
			switch a, b := place[label(source)], place[label(target)]; {
			case forward && back && a != b:
				t.Errorf("%s and %s depend on each other: places %d and %d", label(source), label(target), a, b)
			case forward && !back && a <= b:
				t.Errorf("%s depends on %s: places %d and %d", label(source), label(target), a, b)
			}
		}
	}
}

func checkCycle(t *testing.T, cycle []string, source, target string, length int, edge [size][size]bool) {
	t.Helper()
	number := func(name string) (i int) {
		if _, err := fmt.Sscanf(name, "addon-%d", &i); err != nil {
			t.Fatalf("%q: %v", name, err)
		}
		return i
	}
	if len(cycle) != length+1 || cycle[0] != cycle[len(cycle)-1] || cycle[0] != slices.Min(cycle) {
		t.Errorf("%s: want %d steps, closed, from the smallest member: %v", source, length, cycle)
	}
	var used bool
	for i := range len(cycle) - 1 {
		if !edge[number(cycle[i])][number(cycle[i+1])] {
			t.Errorf("%v: no edge %s → %s", cycle, cycle[i], cycle[i+1])
		}
		used = used || cycle[i] == source && cycle[i+1] == target
	}
	if members := slices.Compact(slices.Sorted(slices.Values(cycle[1:]))); !used || len(members) != length {
		t.Errorf("%v does not use %s → %s, or visits a member twice", cycle, source, target)
	}
}

func TestBetween(t *testing.T) {
	g := New(map[string][]string{
		"a": {"b", "c"}, "b": {"d"}, "c": {"e"}, "d": {"x"}, "e": nil, "x": {"a", "y"}, "y": {"x"},
	})
	for _, test := range []struct {
		first []string
		last  string
		want  []string
	}{
		{[]string{"a"}, "x", []string{"a", "b", "d", "x"}},
		{[]string{"c"}, "x", nil},
		{[]string{"c", "b"}, "x", []string{"b", "d", "x"}},
		{[]string{"x"}, "x", []string{"x"}},
		{[]string{"a"}, "unknown", nil},
		{[]string{"unknown"}, "x", nil},
		{nil, "x", nil},
	} {
		if got := g.Between(test.first, test.last); !slices.Equal(got, test.want) {
			t.Errorf("between %v and %s: %v, want %v", test.first, test.last, got, test.want)
		}
	}
}
