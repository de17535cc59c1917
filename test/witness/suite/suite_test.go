package suite

import (
	"slices"
	"testing"

	"open-cluster-management.io/interlock/test/witness"
)

func TestWithoutFinalizers(t *testing.T) {
	first, second := witness.Object{Name: "one"}, witness.Object{Name: "another"}
	finding := func(kind witness.Kind, object witness.Object) witness.Finding {
		return witness.Finding{Kind: kind, Object: object}
	}
	for name, c := range map[string]struct{ findings, want []witness.Finding }{
		"the write before a deletion is left out": {
			findings: []witness.Finding{finding(witness.NoChange, first), finding(witness.Deleted, first)},
			want:     []witness.Finding{finding(witness.Deleted, first)},
		},
		"and the write after the request to delete": {
			findings: []witness.Finding{finding(witness.Deleted, first), finding(witness.NoChange, second), finding(witness.NoChange, first)},
			want:     []witness.Finding{finding(witness.Deleted, first), finding(witness.NoChange, second)},
		},
		"findings of other kinds between them do not matter": {
			findings: []witness.Finding{finding(witness.Deleted, first), finding(witness.Flip, first), finding(witness.NoChange, first)},
			want:     []witness.Finding{finding(witness.Deleted, first), finding(witness.Flip, first)},
		},
		"an earlier write is kept": {
			findings: []witness.Finding{finding(witness.NoChange, first), finding(witness.NoChange, first), finding(witness.Deleted, first)},
			want:     []witness.Finding{finding(witness.NoChange, first), finding(witness.Deleted, first)},
		},
		"the deletion of another object leaves nothing out": {
			findings: []witness.Finding{finding(witness.NoChange, first), finding(witness.Deleted, second)},
			want:     []witness.Finding{finding(witness.NoChange, first), finding(witness.Deleted, second)},
		},
		"another kind is kept": {
			findings: []witness.Finding{finding(witness.DeclarationLost, first), finding(witness.Deleted, first)},
			want:     []witness.Finding{finding(witness.DeclarationLost, first), finding(witness.Deleted, first)},
		},
	} {
		if got := withoutFinalizers(c.findings); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
