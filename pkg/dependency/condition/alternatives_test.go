package condition

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/test/fixture"
)

// choice is an edge with alternatives: its type, and the add-ons that it is on.
type choice struct {
	kind int
	on   []int
}

func (c choice) applies() bool {
	return kinds[c.kind] == "Required" || kinds[c.kind] == "Required on=yes"
}

// choices are the edges with alternatives of each add-on.
type choices [4][]choice

// newChoosing is a world whose add-ons have edges with alternatives too.
func newChoosing(size int, g *kindGraph, choosing *choices) *world {
	w := newWorld(size, g)
	var registered []addonv1alpha1.ClusterManagementAddOn
	for from := range size {
		var dependencies []addonv1alpha1.AddonDependency
		for to := range size {
			if kind := kinds[g[from][to]]; kind != "" {
				dependencies = append(dependencies, edgeOfKind(kind, letter(to)))
			}
		}
		for i, choice := range choosing[from] {
			edge := edgeOfKind(kinds[choice.kind], "any"+letter(i))
			for _, on := range choice.on {
				edge.AnyOf = append(edge.AnyOf, addonv1alpha1.DependencyAlternative{AddOn: letter(on)})
			}
			dependencies = append(dependencies, edge)
		}
		registered = append(registered, fixture.Registration(letter(from), dependencies...))
	}
	w.catalog = evaluator(registered)
	return w
}

// closure is what is reached from each add-on by edges that apply.
func closure(size int, edge func(from, to int) bool) (reached [4][4]bool) {
	for range size {
		for from := range size {
			for to := range size {
				reached[from][to] = reached[from][to] || edge(from, to)
				for over := range size {
					reached[from][to] = reached[from][to] || reached[from][over] && reached[over][to]
				}
			}
		}
	}
	return reached
}

// expectedOf says which add-ons are to be degraded, from the graph and the health alone: an alternative that waits for
// the dependent, by Required edges or alternatives, is as one that is not there.
func (w *world) expectedOf(size int, g *kindGraph, choosing *choices) string {
	applies := func(from, to int) bool { return g[from][to] == 1 || g[from][to] == 3 }
	waits := func(from, to int) bool {
		for _, choice := range choosing[from] {
			for _, on := range choice.on {
				if on == to && choice.applies() {
					return true
				}
			}
		}
		return applies(from, to)
	}
	required, waited := closure(size, applies), closure(size, waits)
	fails := map[int]bool{}
	down := func(to int) bool { return !w.healthy[letter(to)] || fails[to] }
	unsatisfied := func(from, to int) bool { return down(to) || applies(from, to) && (from == to || required[to][from]) }
	none := func(from int, of choice) bool {
		for _, to := range of.on {
			circular := of.applies() && (from == to || waited[to][from])
			if !circular && !down(to) {
				return false
			}
		}
		return true
	}
	for range size {
		for from := range size {
			for to := range size {
				fails[from] = fails[from] || applies(from, to) && unsatisfied(from, to)
			}
			for _, choice := range choosing[from] {
				fails[from] = fails[from] || choice.applies() && none(from, choice)
			}
			if _, there := w.healthy[letter(from)]; !there {
				delete(fails, from)
			}
		}
	}
	s := state{}
	for from := range size {
		if _, there := w.healthy[letter(from)]; !there {
			continue
		}
		for to := range size {
			if kinds[g[from][to]] == "Optional" && unsatisfied(from, to) {
				s.degraded[from].Reason = optionalReason
			}
		}
		for _, choice := range choosing[from] {
			if kinds[choice.kind] == "Optional" && none(from, choice) {
				s.degraded[from].Reason = optionalReason
			}
		}
		if fails[from] {
			s.degraded[from].Reason = requiredReason
		}
	}
	return w.reasons(&s)
}

// checkChoices explores the world from several pasts: all schedules end, and where they do is the same.
func checkChoices(t *testing.T, w *world, size int, g *kindGraph, choosing *choices, from state) {
	t.Helper()
	for i, name := range w.names {
		if _, there := w.healthy[name]; !there {
			from.degraded[i], from.down[i] = stored(""), false
		}
	}
	want := map[string]bool{w.expectedOf(size, g, choosing): true}
	if diff := cmp.Diff(want, w.ends(t, from)); diff != "" {
		t.Fatalf("graph %v, choices %v, healthy %v, follows %t, from %q: -want, +got:\n%s",
			g, choosing, w.healthy, w.follows, w.reasons(&from), diff)
	}
}

// Two add-ons that are each other's alternative, beside a third: every health, from what several pasts have left.
func TestTwoAddOnsKeepEachOtherNeitherUpNorDown(t *testing.T) {
	const required = 1
	for name, choosing := range map[string]*choices{
		"each other, or a third": {{{required, []int{1, 2}}}, {{required, []int{0, 2}}}},
		"in a ring of three":     {{{required, []int{1, 3}}}, {{required, []int{2, 3}}}, {{required, []int{0, 3}}}},
		"itself":                 {{{required, []int{0, 1}}}},
		"only each other":        {{{required, []int{1, 2}}}, {{required, []int{0, 2}}}, {{required, []int{0, 1}}}},
	} {
		t.Run(name, func(t *testing.T) {
			g := &kindGraph{}
			w := newChoosing(4, g, choosing)
			for n := range 81 * 2 {
				w.healthy, w.follows = map[string]bool{}, n%2 == 0
				for i, health := range []int{n / 2 % 3, n / 6 % 3, n / 18 % 3, n / 54} {
					if health > 0 {
						w.healthy[letter(i)] = health == 2
					}
				}
				for _, past := range []string{"", requiredReason, satisfiedReason} {
					from := state{}
					for i := range 4 {
						from.degraded[i], from.down[i] = stored(past), past == requiredReason && w.follows
					}
					checkChoices(t, w, 4, g, choosing, from)
				}
			}
		})
	}
}

// Up to four, at random; also after the cause of every failure was fixed.
func FuzzSchedulesOfAlternatives(f *testing.F) {
	for seed := range uint64(600) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := fixture.Random(seed)
		size := 2 + r.IntN(3)
		g := &kindGraph{}
		if r.IntN(3) > 0 {
			g = randomGraph(r, size)
		}
		choosing := randomChoices(r, size)
		w := newChoosing(size, g, choosing)
		w.follows = r.IntN(2) == 0
		from := state{}
		for i := range size {
			from.degraded[i] = stored([]string{"", requiredReason, optionalReason, satisfiedReason}[r.IntN(4)])
			if health := r.IntN(5); health > 0 {
				w.healthy[letter(i)] = health > 1
			}
		}
		checkChoices(t, w, size, g, choosing, from)
		for i := range size { // all that failed, and what followed from it
			from.degraded[i] = stored(requiredReason)
			from.down[i] = w.follows
			w.healthy[letter(i)] = true
		}
		checkChoices(t, w, size, g, choosing, from)
	})
}

func randomChoices(r *rand.Rand, size int) *choices {
	choosing := &choices{}
	for from := range size {
		for range r.IntN(3) {
			on := r.Perm(size)
			choosing[from] = append(choosing[from], choice{1 + r.IntN(len(kinds)-1), on[:2+r.IntN(size-1)]})
		}
	}
	return choosing
}
