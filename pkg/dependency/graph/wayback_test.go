package graph

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func always(string, string) bool { return true }

func TestWayBack(t *testing.T) {
	g := New(map[string][]string{"x": {"a", "b", "c", "x"}, "a": {"b"}, "b": {"x"}, "c": {"d"}})
	for through, want := range map[string]struct{ round, cycle []string }{
		"a": {[]string{"x", "a", "b", "x"}, []string{"a", "b", "x", "a"}},
		"b": {[]string{"x", "b", "x"}, []string{"b", "x", "b"}},
		"x": {[]string{"x", "x"}, []string{"x", "x"}},
		"c": {}, "d": {}, "unknown": {},
	} {
		back := g.WayBackWhere("x", always)
		if back.Leads(through) != (want.round != nil) {
			t.Errorf("a way from %s: %t", through, back.Leads(through))
		}
		if diff := cmp.Diff(want.round, back.Round(through)); diff != "" {
			t.Errorf("round through %s:\n%s", through, diff)
		}
		if diff := cmp.Diff(want.cycle, back.Cycle(through)); diff != "" {
			t.Errorf("cycle through %s:\n%s", through, diff)
		}
	}
	if back := g.WayBackWhere("c", always); back != nil || back.Leads("d") {
		t.Error("c is on no cycle")
	}
	back := g.WayBackWhere("x", func(source, _ string) bool { return source != "b" })
	if back.Leads("a") || !slices.Equal(back.Round("x"), []string{"x", "x"}) {
		t.Error("an edge that does not apply leads nowhere")
	}
}
