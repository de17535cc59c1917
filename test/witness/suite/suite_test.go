package suite

import (
	"slices"
	"testing"

	"open-cluster-management.io/interlock/test/witness"
)

func TestWithoutFinalizers(t *testing.T) {
	one, another := witness.Object{Name: "one"}, witness.Object{Name: "another"}
	finding := func(kind witness.Kind, object witness.Object) witness.Finding {
		return witness.Finding{Kind: kind, Object: object}
	}
	for name, c := range map[string]struct{ findings, want []witness.Finding }{
		"the write before a deletion is left out": {
			findings: []witness.Finding{finding(witness.NoChange, one), finding(witness.Deleted, one)},
			want:     []witness.Finding{finding(witness.Deleted, one)},
		},
		"and the one after the request to delete": {
			findings: []witness.Finding{finding(witness.Deleted, one), finding(witness.NoChange, another), finding(witness.NoChange, one)},
			want:     []witness.Finding{finding(witness.Deleted, one), finding(witness.NoChange, another)},
		},
		"findings of other kinds between them do not matter": {
			findings: []witness.Finding{finding(witness.Deleted, one), finding(witness.Flip, one), finding(witness.NoChange, one)},
			want:     []witness.Finding{finding(witness.Deleted, one), finding(witness.Flip, one)},
		},
		"an earlier write is kept": {
			findings: []witness.Finding{finding(witness.NoChange, one), finding(witness.NoChange, one), finding(witness.Deleted, one)},
			want:     []witness.Finding{finding(witness.NoChange, one), finding(witness.Deleted, one)},
		},
		"the deletion of another object leaves nothing out": {
			findings: []witness.Finding{finding(witness.NoChange, one), finding(witness.Deleted, another)},
			want:     []witness.Finding{finding(witness.NoChange, one), finding(witness.Deleted, another)},
		},
		"another kind is kept": {
			findings: []witness.Finding{finding(witness.DeclarationLost, one), finding(witness.Deleted, one)},
			want:     []witness.Finding{finding(witness.DeclarationLost, one), finding(witness.Deleted, one)},
		},
	} {
		if got := withoutFinalizers(c.findings); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
