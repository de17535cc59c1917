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

// world is one cluster with all that decides on its add-ons.
type world struct {
	catalog *evaluation.Evaluator
	names   []string
	// healthy are the add-ons that run; a name that is missing is not installed.
	healthy map[string]bool
	// follows: addon-agent, or the guard, has Available follow Degraded.
	follows bool
}

// state is what is stored on the add-ons, in the order of their names.
type state struct {
	degraded [4]metav1.Condition
	down     [4]bool // Available is False because of Degraded
}

var labelsOfWorld = map[string]string{"on": "yes"}

func (w *world) observe(s *state) func(string) evaluation.Observation {
	return func(name string) evaluation.Observation {
		healthy, there := w.healthy[name]
		i := slices.Index(w.names, name)
		if !there || i < 0 {
			return evaluation.Observation{}
		}
		found := evaluation.Observation{Installed: true, Available: fixture.Available(metav1.ConditionTrue, "Fine")}
		if !healthy {
			found.Available = fixture.Available(metav1.ConditionFalse, "Stopped")
		}
		if s.down[i] {
			found.Available = fixture.Available(metav1.ConditionFalse, requiredReason)
		}
		if s.degraded[i].Type != "" {
			stored := s.degraded[i]
			found.Degraded = &stored
		}
		return found
	}
}

// steps returns the states that follow when any one writer acts.
func (w *world) steps(s state) []state {
	var next []state
	cluster := evaluation.Cluster{Available: metav1.ConditionTrue, Offline: evaluation.OfflineHold, Labels: labelsOfWorld}
	for i, name := range w.names {
		if _, there := w.healthy[name]; !there {
			continue
		}
		stored := w.observe(&s)(name).Degraded
		if written, write := decide(stored, w.catalog.Evaluate(name, w.catalog.State(name, cluster, w.observe(&s))), fixture.Now); write {
			after := s
			after.degraded[i] = written
			next = append(next, after)
		}
		if down := w.follows && availability.RequiredFails(stored); down != s.down[i] {
			after := s
			after.down[i] = down
			next = append(next, after)
		}
	}
	return next
}

// ends explores every schedule, and returns what the states that no step leaves
// say of each add-on. It fails where a schedule comes back to where it was.
func (w *world) ends(t *testing.T, from state) map[string]bool {
	t.Helper()
	ends := map[string]bool{}
	const open, done = 1, 2
	seen := map[state]int{}
	var visit func(s state)
	visit = func(s state) {
		seen[s] = open
		next := w.steps(s)
		for _, after := range next {
			switch seen[after] {
			case open:
				t.Fatalf("a schedule never ends: %v", w.reasons(&after))
			case 0:
				visit(after)
			}
		}
		seen[s] = done
		if len(next) == 0 {
			ends[w.reasons(&s)] = true
		}
	}
	visit(from)
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

func edgeOfKind(kind, on string) addonv1alpha1.AddonDependency {
	kind, when, conditional := strings.Cut(kind, " on=")
	dependency := addonv1alpha1.AddonDependency{Name: on, Type: addonv1alpha1.DependencyType(kind)}
	if conditional {
		dependency.When = &addonv1alpha1.DependencyWhen{ClusterSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"on": when}}}
	}
	return dependency
}

// graph says which kind of edge leads from one add-on to the next: graph[from][to].
type kindGraph [4][4]int

func newWorld(size int, g *kindGraph) *world {
	w := &world{healthy: map[string]bool{}}
	var registered []addonv1alpha1.ClusterManagementAddOn
	for from := range size {
		w.names = append(w.names, letter(from))
		var dependencies []addonv1alpha1.AddonDependency
		for to := range size {
			if kind := kinds[g[from][to]]; kind != "" {
				dependencies = append(dependencies, edgeOfKind(kind, letter(to)))
			}
		}
		registered = append(registered, fixture.Registration(letter(from), dependencies...))
	}
	w.catalog = evaluator(registered)
	return w
}

// expected says which add-ons are to be degraded, from the graph and the health
// alone: the failures that have a cause, and no others.
func (w *world) expected(size int, g *kindGraph) string {
	applies := func(from, to int) bool { return g[from][to] == 1 || g[from][to] == 3 }
	reached := [4][4]bool{}
	for range size {
		for from := range size {
			for to := range size {
				for over := range size {
					reached[from][to] = reached[from][to] || applies(from, to) || reached[from][over] && reached[over][to]
				}
			}
		}
	}
	fails := map[int]bool{}
	unsatisfied := func(from, to int) bool {
		return !w.healthy[letter(to)] || fails[to] || applies(from, to) && (from == to || reached[to][from])
	}
	for range size {
		for from := range size {
			for to := range size {
				if _, there := w.healthy[letter(from)]; there && applies(from, to) && unsatisfied(from, to) {
					fails[from] = true
				}
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
		if fails[from] {
			s.degraded[from].Reason = requiredReason
		}
	}
	return w.reasons(&s)
}

// check explores the world from the given state: all schedules have to end, and
// where they end, only that may be degraded which has a cause.
func (w *world) check(t *testing.T, size int, g *kindGraph, from state) {
	t.Helper()
	for i, name := range w.names {
		if _, there := w.healthy[name]; !there {
			from.degraded[i], from.down[i] = metav1.Condition{}, false
		}
	}
	want := map[string]bool{w.expected(size, g): true}
	if diff := cmp.Diff(want, w.ends(t, from)); diff != "" {
		t.Fatalf("graph %v, healthy %v, follows %t, from %q: -want, +got:\n%s", g, w.healthy, w.follows, w.reasons(&from), diff)
	}
}

func stored(reason string) metav1.Condition {
	switch reason {
	case "":
		return metav1.Condition{}
	case satisfiedReason:
		return *fixture.Degraded(metav1.ConditionFalse, reason, satisfiedMessage)
	default:
		return *fixture.Degraded(metav1.ConditionTrue, reason, "before")
	}
}

// Two add-ons, every graph, every health, from what several pasts have left.
func TestEveryScheduleOfTwoAddOnsEndsTheSame(t *testing.T) {
	before := [][2]string{
		{"", ""}, {requiredReason, requiredReason}, {requiredReason, satisfiedReason}, {optionalReason, requiredReason},
	}
	for n := range 625 {
		g := &kindGraph{{n % 5, n / 5 % 5}, {n / 25 % 5, n / 125}}
		w := newWorld(2, g)
		for m := range 9 * len(before) * 2 {
			w.healthy, w.follows = map[string]bool{}, m%2 == 0
			for i, health := range []int{m / 2 % 3, m / 6 % 3} {
				if health > 0 {
					w.healthy[letter(i)] = health == 2
				}
			}
			reasons := before[m/18]
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
		from := state{}
		for i := range size {
			from.degraded[i] = stored([]string{"", requiredReason, optionalReason, satisfiedReason}[r.IntN(4)])
			if health := r.IntN(5); health > 0 {
				w.healthy[letter(i)] = health > 1
			}
		}
		w.check(t, size, g, from)
		for i := range size { // all that failed, and what followed from it
			from.degraded[i] = stored(requiredReason)
			from.down[i] = w.follows
			w.healthy[letter(i)] = true
		}
		w.check(t, size, g, from)
	})
}

func randomGraph(r *rand.Rand, size int) *kindGraph {
	g := &kindGraph{}
	for from := range size {
		for to := range size {
			if r.IntN(2) == 0 {
				g[from][to] = r.IntN(len(kinds))
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
