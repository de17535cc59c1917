package uninstall

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"open-cluster-management.io/interlock/pkg/cli/planned"
)

func TestAFileDoesNotHaveWhatIsTakenOver(t *testing.T) {
	for _, test := range []struct {
		name  string
		named []string
		want  []string
	}{
		{"what was not named may be", []string{"leaf"}, []string{"c1"}},
		{"what was named is removed anyway", []string{"leaf", "base"}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			o, of := &options{Options: planned.Options{AddOns: test.named}}, plan()
			o.noteUnread(of)
			var got []string
			for _, finding := range of.Findings {
				got = append(got, finding.Clusters...)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("-want, +got:\n%s", diff)
			}
			if !of.Feasible() {
				t.Errorf("problems %v", of.Problems)
			}
		})
	}
}
