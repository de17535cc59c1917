package cause

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
)

func missing(target string) FailingEdge {
	return FailingEdge{Target: target, Verdict: evaluation.NotInstalled}
}

func down(target string) FailingEdge {
	return FailingEdge{Target: target, Verdict: evaluation.NotAvailable}
}

func follows(target string) FailingEdge {
	return FailingEdge{Target: target, Verdict: evaluation.NotAvailable, Follows: true}
}

func inCycle(target string) FailingEdge {
	return FailingEdge{Target: target, Verdict: evaluation.Cycle}
}

func TestRoots(t *testing.T) {
	for name, test := range map[string]struct {
		failing map[string][]FailingEdge
		want    []Root
	}{
		"nothing fails": {nil, []Root{}},
		"one edge":      {map[string][]FailingEdge{"a": {missing("b")}}, []Root{{"b", evaluation.NotInstalled, 1}}},
		"a chain has one end": {
			map[string][]FailingEdge{"a": {follows("b")}, "b": {follows("c")}, "c": {down("d")}},
			[]Root{{"d", evaluation.NotAvailable, 3}},
		},
		"one cause, many victims": {
			map[string][]FailingEdge{"a": {missing("x")}, "b": {missing("x")}, "c": {follows("a"), follows("b")}},
			[]Root{{"x", evaluation.NotInstalled, 3}},
		},
		"two causes: a victim of each": {
			map[string][]FailingEdge{"a": {missing("x"), down("y")}, "b": {follows("a")}},
			[]Root{{"x", evaluation.NotInstalled, 2}, {"y", evaluation.NotAvailable, 2}},
		},
		"one dependency fails in two ways": {
			map[string][]FailingEdge{"a": {{"x", evaluation.VersionMismatch, false}}, "b": {{"x", evaluation.VersionUnknown, false}}},
			[]Root{{"x", evaluation.VersionMismatch, 1}, {"x", evaluation.VersionUnknown, 1}},
		},
		"a cycle is the cause of its members, and of what depends on them": {
			map[string][]FailingEdge{"a": {inCycle("b")}, "b": {inCycle("a")}, "c": {follows("a")}},
			[]Root{{"a", evaluation.Cycle, 1}, {"b", evaluation.Cycle, 2}},
		},
		"the cause of a victim is not known": {map[string][]FailingEdge{"a": {follows("b")}}, []Root{{"b", evaluation.NotAvailable, 1}}},
		"victims of one another, for a moment": {
			map[string][]FailingEdge{"a": {follows("b")}, "b": {follows("a")}}, []Root{},
		},
		"the target fails, but that is not why": {
			map[string][]FailingEdge{"a": {{"b", evaluation.VersionMismatch, false}}, "b": {missing("c")}},
			[]Root{{"b", evaluation.VersionMismatch, 1}, {"c", evaluation.NotInstalled, 1}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if difference := cmp.Diff(test.want, Roots(test.failing)); difference != "" {
				t.Error(difference)
			}
		})
	}
}
