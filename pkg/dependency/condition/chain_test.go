package condition

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/availability"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/test/fixture"
)

func TestADependencyThatMissesItsOwn(t *testing.T) {
	up := fixture.Available(metav1.ConditionTrue, "ManagedClusterAddOnLeaseUpdated")
	follows := fixture.Available(metav1.ConditionFalse, requiredReason)
	lost := fixture.Available(metav1.ConditionUnknown, availability.ReasonClusterLost)
	broken := fixture.Degraded(metav1.ConditionTrue, requiredReason, "Required addon 'b' …")
	edge := func(change func(*addonv1alpha1.AddonDependency)) addonv1alpha1.AddonDependency {
		dependency := fixture.Required("a")
		change(&dependency)
		return dependency
	}
	const text = "(a Required dependency of its own is not satisfied)"
	for name, tc := range map[string]struct {
		reason   string
		edge     addonv1alpha1.AddonDependency
		observed evaluation.Observation
		want     evaluation.Verdict
		message  string // the end of it
	}{
		"Breaks": {
			reason: "although it still says that it is available", edge: fixture.Required("a"),
			observed: evaluation.Observation{Available: up, Degraded: broken}, want: evaluation.NotAvailable, message: text,
		},
		"StaysTheSame": {
			reason: "the finding does not change when Available follows", edge: fixture.Required("a"),
			observed: evaluation.Observation{Available: follows, Degraded: broken}, want: evaluation.NotAvailable, message: text,
		},
		"Recovers": {
			reason: "nor on the way up, until Available follows", edge: fixture.Required("a"),
			observed: evaluation.Observation{Available: follows, Degraded: fixture.Degraded(metav1.ConditionFalse, satisfiedReason, "")},
			want:     evaluation.NotAvailable, message: text,
		},
		"NotReported": {
			reason: "its own dependency comes first", edge: fixture.Required("a"),
			observed: evaluation.Observation{Degraded: broken}, want: evaluation.NotAvailable, message: text,
		},
		"Optional": {
			reason: "an Optional edge is not satisfied either", edge: fixture.Optional("a"),
			observed: evaluation.Observation{Available: up, Degraded: broken}, want: evaluation.NotAvailable, message: text,
		},
		"Settling": {
			reason: "the hub itself has set this: nothing is waited for", edge: fixture.Required("a"),
			observed: evaluation.Observation{Available: lost, Degraded: broken}, want: evaluation.NotAvailable, message: text,
		},
		"OnlyOptional": {
			reason: "it works with less", edge: fixture.Required("a"),
			observed: evaluation.Observation{Available: up, Degraded: fixture.Degraded(metav1.ConditionTrue, optionalReason, "")},
			want:     evaluation.Satisfied,
		},
		"Foreign": {
			reason: "another writer's reason is not about dependencies", edge: fixture.Required("a"),
			observed: evaluation.Observation{Available: up, Degraded: fixture.Degraded(metav1.ConditionTrue, "DiskFull", "")},
			want:     evaluation.Satisfied,
		},
		"False": {
			reason: "the reason alone says nothing", edge: fixture.Required("a"),
			observed: evaluation.Observation{Available: up, Degraded: fixture.Degraded(metav1.ConditionFalse, requiredReason, "")},
			want:     evaluation.Satisfied,
		},
		"VersionBehind": {
			reason: "before its version", edge: edge(func(d *addonv1alpha1.AddonDependency) { d.Version = "1" }),
			observed: evaluation.Observation{Available: up, Degraded: broken, Version: "2"}, want: evaluation.NotAvailable,
			message: text,
		},
		"IfInstalled": {
			reason: "for one that works without it", edge: edge(func(d *addonv1alpha1.AddonDependency) { d.Type, d.Version = "IfInstalled", "1" }),
			observed: evaluation.Observation{Available: up, Degraded: broken, Version: "1.2"},
			want:     evaluation.Satisfied,
		},
	} {
		t.Run(name, func(t *testing.T) {
			tc.observed.Installed = true
			c := evaluator([]addonv1alpha1.ClusterManagementAddOn{fixture.Registration("x", tc.edge)})
			findings := c.Evaluate(
				"x",
				c.State(
					"x", evaluation.Cluster{Available: "True", Offline: evaluation.OfflineHold},
					func(string) evaluation.Observation { return tc.observed },
				),
			)
			if len(findings) != 1 || findings[0].Verdict != tc.want {
				t.Fatalf("%s: found %+v, want %s", tc.reason, findings, tc.want)
			}
			if got := Message(findings, MaxMessage); !strings.HasSuffix(got, tc.message) || (got == "") != (tc.message == "") {
				t.Errorf("%s: message %q, want …%q", tc.reason, got, tc.message)
			}
		})
	}
}

// world is a cluster with all inputs of the decisions on its add-ons.
type world struct {
	catalog *evaluation.Evaluator
	names   []string
	// healthy are the add-ons that run; a name that is missing is not installed.
	healthy map[string]bool
	// follows: addon-agent, or the guard, has Available follow Degraded.
	follows bool
}

// state has the stored conditions of the add-ons, in the order of their names.
type state struct {
	degraded [4]metav1.Condition
	down     [4]bool // Available is False because of Degraded
}

var labelsOfWorld = map[string]string{"on": "yes"}

func (w *world) observe(s *state) func(string) evaluation.Observation {
	return func(name string) evaluation.Observation {
		healthy, ok := w.healthy[name]
		i := slices.Index(w.names, name)
		if !ok || i < 0 {
			return evaluation.Observation{}
		}
		observation := evaluation.Observation{Installed: true, Available: fixture.Available(metav1.ConditionTrue, "Fine")}
		if !healthy {
			observation.Available = fixture.Available(metav1.ConditionFalse, "Stopped")
		}
		if s.down[i] {
			observation.Available = fixture.Available(metav1.ConditionFalse, requiredReason)
		}
		if s.degraded[i].Type != "" {
			stored := s.degraded[i]
			observation.Degraded = &stored
		}
		return observation
	}
}

// steps returns the states that follow when any one writer acts.
func (w *world) steps(s state) []state {
	var next []state
	cluster := evaluation.Cluster{Available: metav1.ConditionTrue, Offline: evaluation.OfflineHold, Labels: labelsOfWorld}
	for i, name := range w.names {
		if _, ok := w.healthy[name]; !ok {
			continue
		}
		stored := w.observe(&s)(name).Degraded
		if written, write := decide(stored, w.catalog.Evaluate(name, w.catalog.State(name, cluster, w.observe(&s))), fixture.Now); write {
			successor := s
			successor.degraded[i] = written
			next = append(next, successor)
		}
		if down := w.follows && availability.RequiredFails(stored); down != s.down[i] {
			successor := s
			successor.down[i] = down
			next = append(next, successor)
		}
	}
	return next
}

// ends explores every schedule, and returns the conditions in the states that no step leaves. It fails if a schedule
// returns to an earlier state.
func (w *world) ends(t *testing.T, source state) map[string]bool {
	t.Helper()
	ends := map[string]bool{}
	const open, closed = 1, 2
	seen := map[state]int{}
	var visit func(s state)
	visit = func(s state) {
		seen[s] = open
		next := w.steps(s)
		for _, successor := range next {
			switch seen[successor] {
			case open:
				t.Fatalf("a schedule never ends: %v", w.reasons(&successor))
			case 0:
				visit(successor)
			}
		}
		seen[s] = closed
		if len(next) == 0 {
			ends[w.reasons(&s)] = true
		}
	}
	visit(source)
	return ends
}

// reasons spells out which add-ons are degraded: R for Required, O for Optional.
func (w *world) reasons(s *state) string {
	text := ""
	for i, name := range w.names {
		switch s.degraded[i].Reason {
		case requiredReason:
			text += name + "=R "
		case optionalReason:
			text += name + "=O "
		}
	}
	return text
}

func letter(i int) string { return string(rune('a' + i)) }

// kinds of edges in a world. The last does not apply.
var kinds = []string{"", "Required", "Optional", "Required on=yes", "Required on=no"}

func edgeOfKind(kind, name string) addonv1alpha1.AddonDependency {
	kind, selector, conditional := strings.Cut(kind, " on=")
	dependency := addonv1alpha1.AddonDependency{Name: name, Type: addonv1alpha1.DependencyType(kind)}
	if conditional {
		dependency.When = &addonv1alpha1.DependencyWhen{ClusterSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"on": selector}}}
	}
	return dependency
}

// graph says which kind of edge leads from one add-on to the next: graph[from][to].
type kindGraph [4][4]int

func newWorld(size int, g *kindGraph) *world {
	w := &world{healthy: map[string]bool{}}
	var registered []addonv1alpha1.ClusterManagementAddOn
	for source := range size {
		w.names = append(w.names, letter(source))
		var dependencies []addonv1alpha1.AddonDependency
		for target := range size {
			if kind := kinds[g[source][target]]; kind != "" {
				dependencies = append(dependencies, edgeOfKind(kind, letter(target)))
			}
		}
		registered = append(registered, fixture.Registration(letter(source), dependencies...))
	}
	w.catalog = evaluator(registered)
	return w
}

// expected says which add-ons are to be degraded, from the graph and the health
// alone: the failures that have a cause, and no others.
func (w *world) expected(size int, g *kindGraph) string {
	applies := func(source, target int) bool { return g[source][target] == 1 || g[source][target] == 3 }
	reached := [4][4]bool{}
	for range size {
		for source := range size {
			for target := range size {
				for middle := range size {
					reached[source][target] = reached[source][target] || applies(source, target) || reached[source][middle] && reached[middle][target]
				}
			}
		}
	}
	fails := map[int]bool{}
	unsatisfied := func(source, target int) bool {
		return !w.healthy[letter(target)] || fails[target] || applies(source, target) && (source == target || reached[target][source])
	}
	for range size {
		for source := range size {
			for target := range size {
				if _, ok := w.healthy[letter(source)]; ok && applies(source, target) && unsatisfied(source, target) {
					fails[source] = true
				}
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
		if fails[source] {
			s.degraded[source].Reason = requiredReason
		}
	}
	return w.reasons(&s)
}

// check explores the world from the given state: all schedules have to end, and
// where they end, only that may be degraded which has a cause.
func (w *world) check(t *testing.T, size int, g *kindGraph, source state) {
	t.Helper()
	for i, name := range w.names {
		if _, ok := w.healthy[name]; !ok {
			source.degraded[i], source.down[i] = metav1.Condition{}, false
		}
	}
	want := map[string]bool{w.expected(size, g): true}
	if diff := cmp.Diff(want, w.ends(t, source)); diff != "" {
		t.Fatalf("graph %v, healthy %v, follows %t, from %q: -want, +got:\n%s", g, w.healthy, w.follows, w.reasons(&source), diff)
	}
}

func stored(reason string) metav1.Condition {
	switch reason {
	case "":
		return metav1.Condition{}
	case satisfiedReason:
		return *fixture.Degraded(metav1.ConditionFalse, reason, satisfiedMessage+".")
	default:
		return *fixture.Degraded(metav1.ConditionTrue, reason, "before")
	}
}

// Two add-ons: every graph with every health, from the results of several pasts.
func TestEveryScheduleOfTwoAddOnsEndsTheSame(t *testing.T) {
	past := [][2]string{
		{"", ""}, {requiredReason, requiredReason}, {requiredReason, satisfiedReason}, {optionalReason, requiredReason},
	}
	for n := range 625 {
		g := &kindGraph{{n % 5, n / 5 % 5}, {n / 25 % 5, n / 125}}
		w := newWorld(2, g)
		for m := range 9 * len(past) * 2 {
			w.healthy, w.follows = map[string]bool{}, m%2 == 0
			for i, health := range []int{m / 2 % 3, m / 6 % 3} {
				if health > 0 {
					w.healthy[letter(i)] = health == 2
				}
			}
			reasons := past[m/18]
			w.check(t, 2, g, state{degraded: [4]metav1.Condition{stored(reasons[0]), stored(reasons[1])}})
		}
	}
}

// Up to four, at random; also after the cause of every failure was fixed.
func FuzzSchedules(f *testing.F) {
	for seed := range uint64(500) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := fixture.Random(seed)
		size := 3 + r.IntN(2)
		g := randomGraph(r, size)
		w := newWorld(size, g)
		w.follows = r.IntN(2) == 0
		source := state{}
		for i := range size {
			source.degraded[i] = stored([]string{"", requiredReason, optionalReason, satisfiedReason}[r.IntN(4)])
			if health := r.IntN(5); health > 0 {
				w.healthy[letter(i)] = health > 1
			}
		}
		w.check(t, size, g, source)
		for i := range size { // all failures, and their consequences
			source.degraded[i] = stored(requiredReason)
			source.down[i] = w.follows
			w.healthy[letter(i)] = true
		}
		w.check(t, size, g, source)
	})
}

func randomGraph(r *rand.Rand, size int) *kindGraph {
	g := &kindGraph{}
	for source := range size {
		for target := range size {
			if r.IntN(2) == 0 {
				g[source][target] = r.IntN(len(kinds))
			}
		}
	}
	return g
}

// A chain breaks on the hub alone, add-on by add-on, and heals the same way.
func TestAChainWithoutAgentAndGuard(t *testing.T) {
	g := &kindGraph{{0, 1}, {0, 0, 1}, {0, 0, 0, 1}}
	w := newWorld(4, g)
	for i := range 4 {
		w.healthy[letter(i)] = i < 3
	}
	s := state{}
	var order []string
	for next := w.steps(s); len(next) > 0; next = w.steps(s) {
		if len(next) > 1 {
			t.Fatalf("%d add-ons are written at once", len(next))
		}
		s = next[0]
		order = append(order, w.reasons(&s))
		if len(order) == 3 {
			w.healthy[letter(3)] = true
		}
	}
	want := []string{"c=R ", "b=R c=R ", "a=R b=R c=R ", "a=R b=R ", "a=R ", ""}
	if diff := cmp.Diff(want, order); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}
