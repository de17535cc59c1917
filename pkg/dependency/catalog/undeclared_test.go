package catalog

import (
	"testing"

	"open-cluster-management.io/interlock/pkg/dependency/fixture"
)

func TestHoldUndeclared(t *testing.T) {
	c := New(append(fixture.Registrations("declares: other, silent:"),
		fixture.Annotated("annotated", "- name: other"), fixture.Annotated("annotated-empty", "[]"), fixture.Annotated("unusable", "{")))
	c.HoldUndeclared()
	for addOn, held := range map[string]bool{
		"declares": false, "silent": true, "annotated": false, "annotated-empty": false, "unusable": true, "nobody": false,
	} {
		if got := c.Declaration(addOn).Invalid; got != held {
			t.Errorf("%s: held %t, want %t", addOn, got, held)
		}
	}
	if c.Renew(fixture.Registrations("declares: other, silent:")).Declaration("silent").Invalid {
		t.Error("still held once the field can be read again")
	}
	if problems := c.Problems("silent"); len(problems) > 0 {
		t.Errorf("its author is told of %v", problems)
	}
}
