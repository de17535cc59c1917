package stability

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"open-cluster-management.io/interlock/pkg/availability"
	"open-cluster-management.io/interlock/test/stability/stock"
)

// result is the outcome of exploring one world.
type result struct {
	states, edges int
	// corrections counts the livelocks in which addon-agent only replaces a stock True.
	corrections int
	// stock counts the livelocks in which only stock components write.
	stock    int
	problems []string
}

// check explores the world: every fair schedule has to end, and where it ends
// the invariants have to hold. A problem comes with the shortest schedule.
func (m *model) check() result {
	g := explore(m.starts(), m.steps)
	exploration := result{states: len(g.states), edges: len(g.edges)}
	for _, component := range g.livelocks(m.steps) {
		switch members := memberSet(component); {
		case m.stockFight() && m.onlyStock(g, component, members):
			exploration.stock++
		case m.onlyCorrections(g, component, members):
			exploration.corrections++
		default:
			exploration.report("never ends:\n%s", m.livelock(g, component))
		}
	}
	for _, e := range g.edges {
		if after := g.states[e.target]; m.Guard && m.writes(g, e) && !guarded(after) {
			exploration.report("the guard lets pass %s:\n%s", after.Available, m.schedule(g, append(g.path(e.source), e)))
		}
	}
	for i := range g.states {
		if edges := g.edgesFrom(int32(i)); len(edges) == 0 {
			if broken := m.broken(g.states[i]); broken != "" {
				exploration.report("ends where %s:\n%s", broken, m.schedule(g, g.path(int32(i))))
			}
		}
	}
	return exploration
}

// report keeps the first three problems. One is enough to find a defect.
func (r *result) report(format string, arguments ...any) {
	if len(r.problems) < 3 {
		r.problems = append(r.problems, fmt.Sprintf(format, arguments...))
	}
}

// writes reports whether the step changes the add-on's conditions.
func (m *model) writes(g *graph[State], e edge) bool {
	before, after := g.states[e.source], g.states[e.target]
	return before.Available != after.Available || before.Degraded != after.Degraded
}

// stockFight reports whether OCM's components fight each other in this world,
// with or without Interlock: a Work prober without fields sets True on a lost
// cluster too, which the hub sets to Unknown.
func (w World) stockFight() bool {
	return w.Prober == stock.WorkProberWithoutFields && !w.RegistrationAgent
}

// onlyStock reports whether Interlock writes nothing in the component.
func (m *model) onlyStock(g *graph[State], component []int32, members map[int32]bool) bool {
	return everyEdge(g, component, members, func(e edge) bool { return !m.steps[e.step].interlock || !m.writes(g, e) })
}

// onlyCorrections reports whether Interlock's only writes in the component are those that may never end: without a
// guard, each replaces a True beside a failing Required dependency.
func (m *model) onlyCorrections(g *graph[State], component []int32, members map[int32]bool) bool {
	return !m.Guard && everyEdge(g, component, members, func(e edge) bool {
		before, after := g.states[e.source], g.states[e.target]
		if !m.steps[e.step].interlock || !m.writes(g, e) {
			return true
		}
		return before.Degraded == after.Degraded && requiredFails(before.Degraded.condition()) &&
			before.Available.condition().Status == metav1.ConditionTrue && guarded(after)
	})
}

func everyEdge(g *graph[State], component []int32, members map[int32]bool, holds func(edge) bool) bool {
	for _, v := range component {
		for _, e := range g.edgesFrom(v) {
			if members[e.target] && !holds(e) {
				return false
			}
		}
	}
	return true
}

// guarded reports whether the guard's invariant holds.
func guarded(s State) bool {
	available, degraded := s.Available.condition(), s.Degraded.condition()
	if available == nil || !requiredFails(degraded) || reportsLost(available) {
		return true
	}
	return available.Status == metav1.ConditionFalse && available.Reason == required && available.Message == degraded.Message
}

func reportsLost(available *metav1.Condition) bool {
	return available.Status == metav1.ConditionUnknown && available.Reason == stock.ClusterLostReason
}

// broken names the invariant that does not hold in a state that no step leaves.
func (m *model) broken(s State) string {
	available, fails := s.Available.condition(), requiredFails(s.Degraded.condition())
	status := metav1.ConditionUnknown // the label's value without a condition
	if available != nil {
		status = available.Status
	}
	reporter := m.expected(s)
	switch {
	case s.Lost == m.RegistrationAgent:
		return "the ManagedCluster's condition is wrong"
	case stock.FeatureDiscovery.Decide(stock.Situation{Available: status}).Label != labels[s.Label]:
		return "the label does not follow Available"
	case m.Guard && !guarded(s):
		return "Available does not follow a failing Required dependency, with the guard in force"
	case fails && m.AddOnAgent && status == metav1.ConditionTrue:
		return "Available is True beside a failing Required dependency"
	case fails && m.AddOnAgent && available == nil:
		return "Available is not set beside a failing Required dependency"
	case !m.NoInterlock && m.RegistrationAgent && fails != (m.Dependency == RequiredMissing):
		return "Degraded does not follow the dependency"
	case !fails && m.AddOnAgent && available != nil && available.Reason == required:
		return "the reason lingers"
	case !fails && m.AddOnAgent && status == metav1.ConditionFalse && available.Reason == availability.ReasonAwaitingHealthCheck:
		return "Available stays False for a health check that never reports"
	case !fails && reporter != nil && (available == nil || available.Reason != reporter.Reason):
		return fmt.Sprintf("Available is %s instead of %s/%s", s.Available, reporter.Status, reporter.Reason)
	}
	return ""
}

// expected returns the final Available while no Required dependency fails: the condition of the component that
// decides on the add-on's health. It is nil if that component does not run or has nothing to report. The manager of
// an add-on is not triggered by the cluster that returns, so without resync it may not probe.
func (m *model) expected(s State) *metav1.Condition {
	rule := stock.AddOnLease
	switch {
	case !m.RegistrationAgent || m.customized() && (m.Prober == "" || !m.Resync):
		return nil
	case m.customized():
		rule = stock.HealthCheck
	}
	return rule.Decide(m.situation(s, false)).Available
}

// livelock returns the schedule that leads into the component, and the shortest schedule that goes round in it.
func (m *model) livelock(g *graph[State], component []int32) string {
	first := component[0]
	for _, v := range component {
		if len(g.path(v)) < len(g.path(first)) {
			first = v
		}
	}
	var cycle []edge
	for _, byInterlock := range []bool{true, false} {
		if cycle == nil {
			cycle = m.shortestCycle(g, component, byInterlock)
		}
	}
	return m.schedule(g, g.path(first)) + "  … and round and round:\n" + m.schedule(g, cycle)
}

// shortestCycle returns the shortest schedule that goes round in the component through a write, by Interlock if
// byInterlock is set. In a large component the schedule is short, but not always the shortest.
func (m *model) shortestCycle(g *graph[State], component []int32, byInterlock bool) []edge {
	const enough = 50
	members := memberSet(component)
	var cycle []edge
	tried := 0
	for _, v := range component {
		for _, e := range g.edgesFrom(v) {
			if tried == enough || !members[e.target] || !m.writes(g, e) || byInterlock && !m.steps[e.step].interlock {
				continue
			}
			tried++
			if candidate := g.cycle(component, e); cycle == nil || len(candidate) < len(cycle) {
				cycle = candidate
			}
		}
	}
	return cycle
}

// schedule returns the steps as lines to read.
func (m *model) schedule(g *graph[State], path []edge) string {
	lines := []string{"  in " + m.String()}
	if len(path) > 0 {
		s := g.states[path[0].source]
		lines = append(lines, fmt.Sprintf("  from Available %s, Degraded %s, cluster lost: %t, lease seen: %s, addon-agent: %s",
			s.Available, s.Degraded, s.Lost, s.AddOnLeaseSeen, s.Memory.recollection()))
	}
	for number, e := range path {
		lines = append(lines, fmt.Sprintf("  %d. %s%s", number+1, m.steps[e.step].name, changes(g.states[e.source], g.states[e.target])))
	}
	return strings.Join(lines, "\n") + "\n"
}

func changes(before, after State) string {
	var differences []string
	add := func(name string, b, a any) {
		if b != a {
			differences = append(differences, fmt.Sprintf("%s %v → %v", name, b, a))
		}
	}
	add("Available", before.Available, after.Available)
	add("Degraded", before.Degraded, after.Degraded)
	add("cluster lost", before.Lost, after.Lost)
	add("label", labels[before.Label], labels[after.Label])
	add("addon-agent", before.Memory.recollection(), after.Memory.recollection())
	if len(differences) == 0 {
		return ""
	}
	return ": " + strings.Join(slices.Compact(differences), ", ")
}
