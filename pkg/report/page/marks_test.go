package page

import (
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"open-cluster-management.io/interlock/pkg/report/drawing"
	"open-cluster-management.io/interlock/pkg/report/overview"
)

func TestMarks(t *testing.T) {
	for name, test := range map[string]struct {
		node overview.NodeState
		want drawing.Mark
	}{
		"works on one": {
			overview.NodeState{States: []overview.StateCount{{State: overview.Working, Count: 1}}},
			drawing.Mark{Class: "working", Sign: "✓", Lines: []string{"Works"}, Words: "Works 1"},
		},
		"missing on one": {
			overview.NodeState{Missing: 1},
			drawing.Mark{Class: "failing", Sign: "✗", Lines: []string{"needed, and not installed"}, Words: "needed, and not installed"},
		},
		"missing on others": {
			overview.NodeState{Missing: 2},
			drawing.Mark{Class: "failing", Sign: "✗", Lines: []string{"needed, and not installed on 2"}, Words: "needed, and not installed on 2"},
		},
		"works, and is missing elsewhere": {
			overview.NodeState{States: []overview.StateCount{{State: overview.Lost, Count: 1}, {State: overview.Working, Count: 4}}, Missing: 1},
			drawing.Mark{
				Class: "failing", Sign: "✗", Lines: []string{"0 of 5 fail", "⌀ 1, ✓ 4", "needed, and not installed on 1"},
				Words: "Lost 1, Works 4, needed, and not installed on 1",
			},
		},
	} {
		if diff := gocmp.Diff(test.want, Marks(map[string]overview.NodeState{"base": test.node})["base"]); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
