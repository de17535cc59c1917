package dependency

import "testing"

func TestHoldUndeclared(t *testing.T) {
	c := NewCatalog(append(registrations("declares: other, silent:"),
		annotated("annotated", "- name: other"), annotated("annotated-empty", "[]"), annotated("unusable", "{")))
	c.HoldUndeclared()
	for addOn, held := range map[string]bool{
		"declares": false, "silent": true, "annotated": false, "annotated-empty": false, "unusable": true, "nobody": false,
	} {
		if got := c.Declaration(addOn).Invalid; got != held {
			t.Errorf("%s: held %t, want %t", addOn, got, held)
		}
	}
	if c.Renew(registrations("declares: other, silent:")).Declaration("silent").Invalid {
		t.Error("still held once the field can be read again")
	}
	if problems := c.Problems("silent"); len(problems) > 0 {
		t.Errorf("its author is told of %v", problems)
	}
}
