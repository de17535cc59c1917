package uninstallcmd

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"open-cluster-management.io/interlock/pkg/cli/planned"
)

func TestNoteUnread(t *testing.T) {
	for _, test := range []struct {
		name  string
		named []string
		want  []string
	}{
		{"an add-on that was not named", []string{"leaf"}, []string{"c1"}},
		{"only named add-ons", []string{"leaf", "base"}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			o, removal := &options{Options: planned.Options{AddOns: test.named}}, plan()
			o.noteUnread(removal)
			var got []string
			for _, finding := range removal.Findings {
				got = append(got, finding.Clusters...)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("-want, +got:\n%s", diff)
			}
			if !removal.Feasible() {
				t.Errorf("problems %v", removal.Problems)
			}
		})
	}
}
