package assess

import (
	"testing"

	"open-cluster-management.io/interlock/pkg/fleet"
)

func TestRollouts(t *testing.T) {
	runs := func(name string) fleet.Templates { return fleet.Templates{Running: name} }
	rollsOut := func(name string) fleet.Templates { return fleet.Templates{RollingOut: name} }
	for name, tc := range map[string]struct {
		states []fleet.Templates
		want   string
	}{
		"First":         {[]fleet.Templates{{}, rollsOut("a")}, "a"},
		"ChosenAnew":    {[]fleet.Templates{{}, rollsOut("a"), rollsOut("b"), rollsOut("c")}, "c"},
		"RollsBack":     {[]fleet.Templates{runs("a"), rollsOut("b"), rollsOut("a"), rollsOut("c")}, "a"},
		"AfterTheFirst": {[]fleet.Templates{{}, rollsOut("a"), runs("a"), rollsOut("b")}, "a"},
		"Runs":          {[]fleet.Templates{rollsOut("a"), runs("a")}, ""},
		"Rollout":       {[]fleet.Templates{runs("a"), rollsOut("b")}, "a"},
		"Next":          {[]fleet.Templates{runs("a"), rollsOut("b"), rollsOut("c")}, "a"},
		"Done":          {[]fleet.Templates{runs("a"), rollsOut("b"), runs("b")}, ""},
		"Second":        {[]fleet.Templates{runs("a"), rollsOut("b"), runs("b"), rollsOut("c")}, "b"},
		"NoTemplate":    {[]fleet.Templates{runs("a"), rollsOut("b"), {}}, ""},
		"EditedInPlace": {[]fleet.Templates{runs("a"), rollsOut("a")}, ""},
		"BothNamed":     {[]fleet.Templates{runs("a"), {Running: "a", RollingOut: "b"}}, ""},
	} {
		var m Memory
		for i := range tc.states[1:] {
			m.observe(leaf, tc.states[i], tc.states[i+1])
		}
		if got := m.RunningTemplate(leaf); got != tc.want {
			t.Errorf("%s: from %q, want %q", name, got, tc.want)
		}
	}
}
