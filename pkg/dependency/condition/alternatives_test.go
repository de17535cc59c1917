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
	kind    int
	targets []int
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
	for source := range size {
		var dependencies []addonv1alpha1.AddonDependency
		for target := range size {
			if kind := kinds[g[source][target]]; kind != "" {
				dependencies = append(dependencies, edgeOfKind(kind, letter(target)))
			}
		}
		for i, choice := range choosing[source] {
			edge := edgeOfKind(kinds[choice.kind], "any"+letter(i))
			for _, alternative := range choice.targets {
				edge.AnyOf = append(edge.AnyOf, addonv1alpha1.DependencyAlternative{AddOn: letter(alternative)})
			}
			dependencies = append(dependencies, edge)
		}
		registered = append(registered, fixture.Registration(letter(source), dependencies...))
	}
	w.catalog = evaluator(registered)
	return w
}

// closure returns the add-ons that each add-on reaches through edges that apply.
func closure(size int, edge func(source, target int) bool) (reached [4][4]bool) {
	for range size {
		for source := range size {
			for target := range size {
				reached[source][target] = reached[source][target] || edge(source, target)
				for middle := range size {
					reached[source][target] = reached[source][target] || reached[source][middle] && reached[middle][target]
				}
			}
		}
	}
	return reached
}

// expectedOf says which add-ons are to be degraded, from the graph and the health alone: an alternative that waits for
// the dependent, by Required edges or alternatives, is as one that is not there.
func (w *world) expectedOf(size int, g *kindGraph, choosing *choices) string {
	applies := func(source, target int) bool { return g[source][target] == 1 || g[source][target] == 3 }
	waits := func(source, target int) bool {
		for _, choice := range choosing[source] {
			for _, alternative := range choice.targets {
				if alternative == target && choice.applies() {
					return true
				}
			}
		}
		return applies(source, target)
	}
	required, waited := closure(size, applies), closure(size, waits)
	fails := map[int]bool{}
	down := func(target int) bool { return !w.healthy[letter(target)] || fails[target] }
	unsatisfied := func(source, target int) bool {
		return down(target) || applies(source, target) && (source == target || required[target][source])
	}
	noneWorks := func(source int, c choice) bool {
		for _, target := range c.targets {
			circular := c.applies() && (source == target || waited[target][source])
			if !circular && !down(target) {
				return false
			}
		}
		return true
	}
	for range size {
		for source := range size {
			for target := range size {
				fails[source] = fails[source] || applies(source, target) && unsatisfied(source, target)
			}
			for _, choice := range choosing[source] {
				fails[source] = fails[source] || choice.applies() && noneWorks(source, choice)
			}
			if _, ok := w.healthy[letter(source)]; !ok {
				delete(fails, source)
			}
		}
	}
	s := state{}
	for source := range size {
		if _, ok := w.healthy[letter(source)]; !ok {
			continue
		}
		for target := range size {
			if kinds[g[source][target]] == "Optional" && unsatisfied(source, target) {
				s.degraded[source].Reason = optionalReason
			}
		}
		for _, choice := range choosing[source] {
			if kinds[choice.kind] == "Optional" && noneWorks(source, choice) {
				s.degraded[source].Reason = optionalReason
			}
		}
		if fails[source] {
			s.degraded[source].Reason = requiredReason
		}
	}
	return w.reasons(&s)
}

// checkChoices explores the world from several pasts: all schedules end, and where they do is the same.
func checkChoices(t *testing.T, w *world, size int, g *kindGraph, choosing *choices, source state) {
	t.Helper()
	for i, name := range w.names {
		if _, ok := w.healthy[name]; !ok {
			source.degraded[i], source.down[i] = stored(""), false
		}
	}
	want := map[string]bool{w.expectedOf(size, g, choosing): true}
	if diff := cmp.Diff(want, w.ends(t, source)); diff != "" {
		t.Fatalf("graph %v, choices %v, healthy %v, follows %t, from %q: -want, +got:\n%s",
			g, choosing, w.healthy, w.follows, w.reasons(&source), diff)
	}
}

// Two add-ons that are alternatives of each other, beside a third one: with every health, from the results of several
// pasts.
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
					source := state{}
					for i := range 4 {
						source.degraded[i], source.down[i] = stored(past), past == requiredReason && w.follows
					}
					checkChoices(t, w, 4, g, choosing, source)
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
		source := state{}
		for i := range size {
			source.degraded[i] = stored([]string{"", requiredReason, optionalReason, satisfiedReason}[r.IntN(4)])
			if health := r.IntN(5); health > 0 {
				w.healthy[letter(i)] = health > 1
			}
		}
		checkChoices(t, w, size, g, choosing, source)
		for i := range size { // all failures, and their consequences
			source.degraded[i] = stored(requiredReason)
			source.down[i] = w.follows
			w.healthy[letter(i)] = true
		}
		checkChoices(t, w, size, g, choosing, source)
	})
}

func randomChoices(r *rand.Rand, size int) *choices {
	choosing := &choices{}
	for source := range size {
		for range r.IntN(3) {
			targets := r.Perm(size)
			choosing[source] = append(choosing[source], choice{1 + r.IntN(len(kinds)-1), targets[:2+r.IntN(size-1)]})
		}
	}
	return choosing
}
