package nextstep

import "testing"

func TestEffect(t *testing.T) {
	for name, test := range map[string]struct {
		step     Step
		affected int
		want     string
	}{
		"no command":                     {Step{Note: "by hand"}, 3, ""},
		"a command for all":              {Step{Run: Doctor}, 3, "only reads"},
		"a command for the only cluster": {Step{Run: "kubectl get x -n c1", Example: "c1"}, 1, "only reads"},
		"a command for one of several": {
			Step{Run: "kubectl get x -n c1", Example: "c1"},
			3,
			"only reads, and shows c1, one of the 3: for another one, replace its name",
		},
		"a command that changes something": {Step{Run: "clusteradm x", Changes: 21}, 21, "changes 21 managed clusters"},
		"an editor": {
			Step{Run: "kubectl edit x", Edits: true},
			2,
			"opens an editor, and what you save changes the declaration for all managed clusters",
		},
	} {
		if got := test.step.Effect(test.affected); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

func TestExample(t *testing.T) {
	for run, want := range map[string]string{
		"kubectl get x -n c1": "c1", "kubectl get x -n c10": "", "clusteradm enable --clusters c1,c2": "", "": "",
	} {
		if got := (Step{Run: run}).withExample("c1").Example; got != want {
			t.Errorf("%q: %q, want %q", run, got, want)
		}
	}
	if got := (Step{Run: "clusteradm enable --clusters c1", Changes: 1}).withExample("c1"); got.Example != "" {
		t.Errorf("%+v", got)
	}
}
