package declarations

import "testing"

func TestAddOnsAreHeldWhileTheirDeclarationsAreHidden(t *testing.T) {
	b := newBench(t, registered("leaf", "base"), registered("silent"), installed("c1", "leaf"), installed("c1", "silent"))
	hidden := false
	b.Hidden = func() bool { return hidden }
	b.expect(t)

	hidden = true
	b.declare(t, "leaf") // as the API server shows it without the field
	b.expect(t, "c1/leaf", "c1/silent")
	for _, addOn := range []string{"leaf", "silent"} {
		if b.Store.Current().Known(addOn) {
			t.Errorf("%s is not held", addOn)
		}
	}

	hidden = false
	b.declare(t, "leaf", "base")
	b.expect(t, "c1/leaf", "c1/silent")
	if got := b.Store.Current().Declaration("leaf"); !b.Store.Current().Known("leaf") || len(got.Dependencies) != 1 {
		t.Errorf("leaf declares %v", got)
	}
}
