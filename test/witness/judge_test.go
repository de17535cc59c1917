package witness

import (
	"slices"
	"testing"
	"time"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

var (
	registration = Writer{"system:open-cluster-management:cluster1:a", "registration"}
	agent        = Writer{"system:open-cluster-management:cluster:cluster1:addon:interlock", "interlock-addon-agent"}
	manager      = Writer{"system:serviceaccount:interlock-system:interlock-addon-manager", "interlock-addon-manager"}

	up      = Condition{"True", "ManagedClusterAddOnLeaseUpdated"}
	ours    = Condition{"False", addonv1alpha1.AddonDegradedReasonRequiredDependencyNotSatisfied}
	noLease = Condition{"Unknown", "ManagedClusterAddOnLeaseNotFound"}
	failing = Condition{"True", addonv1alpha1.AddonDegradedReasonRequiredDependencyNotSatisfied}

	app = Object{addOns, "cluster1", "app"}
)

// story is a history of objects, with one write a second, from second 1 on.
type story struct {
	writes  []Write
	present map[Object]*State
}

func timeAt(second int) time.Time { return time.Unix(int64(second), 0) }

func (s *story) write(writer Writer, object Object, change func(*State)) *story {
	second := len(s.writes) + 1
	write := Write{Time: timeAt(second), Object: object, Writer: writer, Before: s.present[object]}
	state := State{Version: uint64(second)}
	if write.Before != nil {
		state = *write.Before
		state.Deleting, state.Deleted = false, false
	}
	write.After = &state
	if change != nil {
		state.Version, state.content = uint64(second), timeAt(second).String()
		change(&state)
	}
	s.writes = append(s.writes, write)
	if s.present == nil {
		s.present = map[Object]*State{}
	}
	s.present[object] = write.After
	return s
}

func (s *story) condition(writer Writer, kind string, value Condition) *story {
	return s.write(writer, app, func(state *State) {
		conditions := map[string]Condition{}
		for kind, value := range state.Conditions {
			conditions[kind] = value
		}
		conditions[kind] = value
		state.Conditions = conditions
	})
}

func (s *story) available(writer Writer, value Condition) *story {
	return s.condition(writer, "Available", value)
}

func (s *story) degraded(value Condition) *story { return s.condition(manager, "Degraded", value) }

func (s *story) finding(message string) *story {
	return s.write(manager, app, func(state *State) { state.Finding = message })
}

func (s *story) nothing(writer Writer) *story { return s.write(writer, app, nil) }

func (s *story) refused(writer Writer) *story {
	s.writes = append(s.writes, Write{Time: timeAt(len(s.writes) + 1), Object: app, Writer: writer, Refused: true})
	return s
}

func (s *story) label(value string) *story {
	return s.write(registration, Object{clusters, "", "cluster1"}, func(state *State) { state.Labels = map[string]string{"app": value} })
}

func (s *story) declare(names ...string) *story {
	return s.write(registration, Object{registrations, "", "app"}, func(state *State) {
		state.Declared = map[string]bool{}
		for _, name := range names {
			state.Declared[name] = true
		}
	})
}

func (s *story) remove(object Object) *story {
	s.write(registration, object, func(state *State) { state.Deleted = true })
	delete(s.present, object)
	return s
}

func causeAt(second int, scopes ...Scope) schedule {
	return schedule{causes: []cause{{name: "a test", scopes: scopes, time: timeAt(second)}}}
}

func quiet(start, end int) schedule { return schedule{quiet: []period{{timeAt(start), timeAt(end)}}} }

func TestJudge(t *testing.T) {
	for name, test := range map[string]struct {
		story    *story
		schedule schedule
		want     []Kind
	}{
		"a write by Interlock that changed nothing": {new(story).degraded(failing).nothing(manager), schedule{}, []Kind{NoChange}},
		"another writer's that changed nothing":     {new(story).degraded(failing).nothing(registration), schedule{}, nil},

		"one transition": {new(story).available(registration, up).available(agent, ours), schedule{}, nil},
		"two to something new": {
			new(story).available(registration, up).available(registration, noLease).available(agent, ours),
			schedule{},
			nil,
		},
		"there and back": {
			new(story).available(registration, up).available(agent, ours).available(registration, up),
			schedule{},
			[]Kind{Flip},
		},
		"there and back, by the reason": {
			new(story).available(agent, ours).available(agent, Condition{"False", "Other"}).available(agent, ours),
			schedule{},
			[]Kind{Flip},
		},
		"there and back with a cause": {
			new(story).available(registration, up).available(agent, ours).available(registration, up),
			causeAt(3),
			nil,
		},
		"a cause for another add-on": {
			new(story).available(registration, up).available(agent, ours).available(registration, up),
			causeAt(3, Everywhere("other")),
			[]Kind{Flip},
		},
		"a cause for another cluster": {
			new(story).available(registration, up).available(agent, ours).available(registration, up),
			causeAt(3, OnCluster("cluster2")),
			[]Kind{Flip},
		},
		"a cause for this one": {
			new(story).available(registration, up).available(agent, ours).available(registration, up),
			causeAt(3, AddOn("cluster1", "app")),
			nil,
		},
		"a fight": {
			new(story).available(agent, ours).available(registration, noLease).available(agent, ours).available(registration, noLease),
			schedule{},
			[]Kind{Flip, Flip},
		},
		"back and forth after a cause": {
			new(story).available(registration, up).available(agent, ours).available(registration, up).available(agent, ours),
			causeAt(2),
			[]Kind{Flip, Flip},
		},
		"installed again": {
			new(story).available(registration, up).available(agent, ours).remove(app).available(registration, up),
			schedule{removals: []removal{{"app", timeAt(1)}}},
			nil,
		},
		"Degraded there and back": {
			new(story).degraded(failing).degraded(Condition{"False", "DependenciesSatisfied"}).degraded(failing),
			schedule{},
			[]Kind{Flip},
		},
		"without a lease, while a dependency fails": {
			new(story).available(registration, noLease).degraded(failing).available(agent, ours).
				degraded(Condition{"False", "DependenciesSatisfied"}).available(agent, noLease),
			schedule{},
			nil,
		},
		"without a lease, although the dependency still fails": {
			new(story).available(registration, noLease).degraded(failing).available(agent, ours).available(agent, noLease),
			schedule{},
			[]Kind{Flip},
		},
		"without a lease, with Degraded there and back": {
			new(story).available(registration, noLease).degraded(failing).available(agent, ours).
				degraded(Condition{"False", "DependenciesSatisfied"}).degraded(failing).degraded(Condition{"False", "Other"}).available(agent, noLease),
			schedule{},
			[]Kind{Flip, Flip},
		},

		"a label that moves once": {new(story).label("available").label("unhealthy"), schedule{}, nil},
		"a label there and back":  {new(story).label("available").label("unhealthy").label("available"), schedule{}, []Kind{LabelMoved}},
		"a label with a cause": {
			new(story).label("available").label("unhealthy").label("available"),
			causeAt(3, AddOn("cluster1", "app")),
			nil,
		},
		"a label with the other's cause": {
			new(story).label("available").label("unhealthy").label("available"),
			causeAt(3, AddOn("cluster1", "other")),
			[]Kind{LabelMoved},
		},
		"a label in a quiet period": {new(story).label("available").label("unhealthy"), quiet(2, 3), []Kind{LabelMoved}},

		"Interlock writes in a quiet period": {new(story).degraded(Condition{}).degraded(failing), quiet(2, 3), []Kind{NotQuiet, NotQuiet}},
		"a condition moves in a quiet period": {
			new(story).available(registration, up).available(registration, noLease),
			quiet(2, 3),
			[]Kind{NotQuiet},
		},
		"another writer changes nothing in a quiet period": {new(story).available(registration, up).nothing(registration), quiet(2, 3), nil},
		"before and after a quiet period": {
			new(story).available(registration, up).nothing(registration).available(agent, ours),
			quiet(2, 3),
			nil,
		},
		"a refused write of Interlock in a quiet period": {
			&story{writes: []Write{{Time: timeAt(1), Object: app, Writer: agent, Refused: true}}},
			quiet(1, 2),
			[]Kind{NotQuiet},
		},
		"Interlock writes another resource in a quiet period": {
			&story{writes: []Write{{Time: timeAt(1), Object: Object{"events", "cluster1", ""}, Writer: agent}}},
			quiet(1, 2),
			[]Kind{NotQuiet},
		},

		"a dependency is gone":       {new(story).declare("a", "b").declare("a"), schedule{}, []Kind{DeclarationLost}},
		"one is gone, another there": {new(story).declare("a").declare("b"), schedule{}, []Kind{DeclarationLost}},
		"all are gone":               {new(story).declare("a", "b").declare(), schedule{}, []Kind{DeclarationLost}},
		"gone as intended":           {new(story).declare("a", "b").declare("a"), schedule{removals: []removal{{"app", timeAt(2)}}}, nil},
		"gone as intended of another": {
			new(story).declare("a", "b").declare("a"),
			schedule{removals: []removal{{"other", timeAt(2)}}},
			[]Kind{DeclarationLost},
		},
		"gone again after it was back": {
			new(story).declare("a").declare().declare("a").declare(),
			schedule{removals: []removal{{"app", timeAt(2)}}},
			[]Kind{DeclarationLost},
		},
		"unknown through another version": {
			new(story).declare("a").write(registration, Object{registrations, "", "app"}, func(s *State) { s.Declared = nil }),
			schedule{},
			nil,
		},
		"a registration is deleted": {new(story).declare("a").remove(Object{registrations, "", "app"}), schedule{}, []Kind{Deleted}},
		"an add-on is deleted":      {new(story).available(registration, up).remove(app), schedule{}, []Kind{Deleted}},
		"an add-on is uninstalled": {
			new(story).available(registration, up).remove(app),
			schedule{removals: []removal{{"app", timeAt(1)}}},
			nil,
		},
		"another object is deleted": {new(story).label("available").remove(Object{clusters, "", "cluster1"}), schedule{}, nil},
	} {
		t.Run(name, func(t *testing.T) { expect(t, judge(test.story.writes, test.schedule), test.want...) })
	}
}

// Without a guard, a stock True may come again and again. One write of Interlock follows each.
func TestJudgeUnguarded(t *testing.T) {
	setup := func() *story { return new(story).degraded(failing).available(agent, ours) }
	for name, test := range map[string]struct {
		story *story
		want  []Kind
	}{
		"each answered once": {
			setup().available(registration, up).available(agent, ours).available(registration, up).available(agent, ours),
			nil,
		},
		"answered twice": {
			setup().available(registration, up).available(agent, ours).available(agent, Condition{"False", "Other"}),
			[]Kind{AnsweredTwice},
		},
		"answered, with another finding": {
			setup().available(registration, up).available(agent, ours).finding("others").nothing(agent),
			[]Kind{NoChange},
		},
		"that answered twice": {
			setup().available(registration, up).finding("others").available(agent, ours).available(agent, Condition{"False", "Other"}),
			[]Kind{AnsweredTwice},
		},
		"answered, and written to again": {
			setup().available(registration, up).available(agent, ours).nothing(agent),
			[]Kind{NoChange, AnsweredTwice},
		},
		"another reason is corrected": {
			setup().available(registration, noLease).available(agent, ours),
			[]Kind{NotQuiet, NotQuiet, Flip, NotQuiet},
		},
		"Interlock's own True": {
			setup().available(agent, up).available(agent, ours),
			[]Kind{NotQuiet, NotQuiet, NotQuiet, Flip, NotQuiet},
		},
		"refused at first":             {setup().available(registration, up).refused(agent).available(agent, ours), nil},
		"refused without a stock True": {setup().refused(agent), []Kind{NotQuiet}},
		"written when it is over": {
			setup().available(registration, up).degraded(Condition{"False", "DependenciesSatisfied"}).available(agent, ours),
			[]Kind{NotQuiet, NotQuiet, NotQuiet, NotQuiet},
		},
		"the label follows": {
			setup().label("unhealthy").available(registration, up).label("available").available(agent, ours).label("unhealthy"),
			nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			schedule := quiet(3, 100)
			schedule.unguarded = true
			findings := judge(test.story.writes, schedule)
			slices.SortStableFunc(findings, func(a, b Finding) int { return a.Time.Compare(b.Time) })
			expect(t, findings, test.want...)
			guarded := judge(test.story.writes, quiet(3, 100))
			if len(guarded) == 0 {
				t.Error("with a guard in force each of these is a finding")
			}
		})
	}
}

// Without a guard, Interlock asserts its False once, and another writer may put its
// own value back.
func TestJudgeRestored(t *testing.T) {
	setup := func() *story {
		return new(story).degraded(failing).available(registration, noLease).available(agent, ours)
	}
	for name, test := range map[string]struct {
		story *story
		want  []Kind
	}{
		"once":                {setup().available(registration, noLease), nil},
		"once, and the label": {new(story).label("unreachable").label("unhealthy").label("unreachable"), nil},
		"and answered twice": {
			setup().available(registration, noLease).available(agent, ours).available(registration, noLease).
				available(agent, ours).available(registration, noLease),
			[]Kind{Flip, Flip},
		},
		"the label twice":              {new(story).label("a").label("b").label("a").label("b"), []Kind{LabelMoved}},
		"by Interlock":                 {setup().available(agent, noLease), []Kind{Flip}},
		"by Interlock when it is over": {setup().degraded(Condition{"False", "DependenciesSatisfied"}).available(agent, noLease), nil},
		"a value that it replaced": {
			new(story).available(registration, noLease).available(registration, up).available(registration, noLease),
			[]Kind{Flip},
		},
		"once in each of two epochs": {setup().available(registration, noLease).available(agent, ours).available(registration, noLease), nil},
	} {
		t.Run(name, func(t *testing.T) {
			unguarded := causeAt(5)
			unguarded.unguarded = true
			expect(t, judge(test.story.writes, unguarded), test.want...)
		})
	}
}

// When a cluster is lost or is back, OCM's hub and its add-on manager may overlap once.
func TestJudgeOverlap(t *testing.T) {
	lost, probed := Condition{"Unknown", "ManagedClusterLeaseUpdateStopped"}, Condition{"False", "ProbeUnavailable"}
	hub, prober := Writer{"system:serviceaccount:open-cluster-management-hub:registration-controller-sa", "registration"},
		Writer{"system:serviceaccount:open-cluster-management-hub:addon-manager-controller-sa", "addon"}
	setup := func() *story { return new(story).available(prober, probed) }
	for name, test := range map[string]struct {
		story    *story
		schedule schedule
		want     []Kind
	}{
		"a probe from before the loss": {setup().available(hub, lost).available(prober, probed).available(hub, lost), schedule{}, nil},
		"the hub's write after the return": {
			setup().available(hub, lost).available(prober, up).available(hub, lost).available(prober, up),
			schedule{},
			nil,
		},
		"once only": {
			setup().available(hub, lost).available(prober, probed).available(hub, lost).available(prober, probed),
			schedule{},
			[]Kind{Flip},
		},
		"with Interlock": {
			setup().available(hub, lost).available(agent, probed).available(hub, lost),
			schedule{},
			[]Kind{Flip, Flip},
		},
		"after Interlock": {
			setup().available(hub, lost).available(agent, ours).available(hub, lost),
			schedule{},
			[]Kind{Flip},
		},
		"of two other values": {setup().available(hub, up).available(prober, probed), schedule{}, []Kind{Flip}},
		"in a quiet period":   {setup().available(hub, lost).available(prober, probed), quiet(3, 4), []Kind{NotQuiet}},
		"the label follows": {
			new(story).label("unhealthy").label("unreachable").label("unhealthy").label("unreachable"),
			schedule{},
			nil,
		},
		"the label follows once only": {
			new(story).label("unhealthy").label("unreachable").label("unhealthy").label("unreachable").label("unhealthy"),
			schedule{},
			[]Kind{LabelMoved},
		},
		"the label follows in quiet period": {
			new(story).label("unhealthy").label("unreachable").label("unhealthy"),
			quiet(3, 4),
			[]Kind{LabelMoved},
		},
	} {
		t.Run(name, func(t *testing.T) { expect(t, judge(test.story.writes, test.schedule), test.want...) })
	}
}

// Interlock's write after a stock True may come after the next cause of the test.
func TestJudgeLateAnswer(t *testing.T) {
	s := new(story).degraded(failing).available(registration, up).nothing(registration).available(agent, ours)
	late := causeAt(3)
	late.quiet, late.unguarded = quiet(4, 100).quiet, true
	expect(t, judge(s.writes, late))
	expect(t, judge(s.available(agent, Condition{"False", "Other"}).writes, late), AnsweredTwice)
}

func TestStockTrueIsCountedOnce(t *testing.T) {
	s := new(story).degraded(failing).available(registration, up).write(registration, app, func(state *State) { state.content = "other" })
	counts := count(s.writes, period{timeAt(1), timeAt(10)})
	if trues := counts.Sum(func(c Count) int { return c.StockTrues }); trues != 1 {
		t.Errorf("want 1 stock True, got %d:\n%s", trues, counts)
	}
}

func expect(t *testing.T, findings []Finding, want ...Kind) {
	t.Helper()
	var kinds []Kind
	for _, finding := range findings {
		kinds = append(kinds, finding.Kind)
	}
	slices.Sort(kinds)
	slices.Sort(want)
	if !slices.Equal(kinds, want) {
		t.Errorf("want %q, got:\n%s", want, Report(findings))
	}
}

func TestRestlessnessIsTheDisquietOfOnePeriod(t *testing.T) {
	writes := new(story).available(registration, up).available(registration, noLease).nothing(registration).nothing(registration).writes
	for name, test := range map[string]struct {
		period period
		want   int
	}{
		"with the move":     {period{timeAt(2), timeAt(4)}, 1},
		"after the move":    {period{timeAt(3), timeAt(5)}, 0},
		"from the creation": {period{timeAt(1), timeAt(3)}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			// A quiet period before this one is not judged again.
			findings := quiet(1, 3).restlessness(writes, test.period)
			if len(findings) != test.want {
				t.Errorf("%d findings, want %d:\n%s", len(findings), test.want, Report(findings))
			}
		})
	}
}

func TestAnswersAreWritesThatStoreAnotherState(t *testing.T) {
	writes := new(story).degraded(failing).available(registration, up).refused(agent).available(agent, ours).nothing(agent).writes
	counts := count(writes, period{timeAt(2), timeAt(9)}).ForAddOn("cluster1", "app")
	if counts.Answers() != 1 || counts.Interlock() != 3 {
		t.Errorf("%d answers of %d requests, want 1 of 3", counts.Answers(), counts.Interlock())
	}
}
