package catalog

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"open-cluster-management.io/interlock/test/fixture"
)

func TestWhatIsKnownWithoutFields(t *testing.T) {
	with := New(append(fixture.Registrations("declares: other, silent:"),
		fixture.Annotated("annotated", "- name: other"), fixture.Annotated("annotated-empty", "[]"), fixture.Annotated("unusable", "{")))
	c := with.WithoutFields()
	for addOn, held := range map[string]bool{
		"declares": false, "silent": true, "annotated": false, "annotated-empty": false, "unusable": true, "missing": false,
	} {
		if got := !c.Known(addOn); got != held {
			t.Errorf("%s: held %t, want %t", addOn, got, held)
		}
		if known := with.Known(addOn); known != (addOn != "unusable") {
			t.Errorf("%s: known %t where fields can be read", addOn, known)
		}
	}
	if !c.Renew(fixture.Registrations("declares: other, silent:")).Known("silent") {
		t.Error("still held once the field can be read again")
	}
	if diff := cmp.Diff([]string{"silent"}, c.Changed(with)); diff != "" {
		t.Errorf("changed without fields -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"silent"}, with.Changed(c)); diff != "" {
		t.Errorf("changed with fields again -want, +got:\n%s", diff)
	}
	if problems := c.Problems("silent"); len(problems) > 0 {
		t.Errorf("it has the problems %v", problems)
	}
}
