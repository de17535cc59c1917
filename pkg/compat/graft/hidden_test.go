package graft

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestDeclarationsAreHiddenUntilTheFieldsAreThereAndRead(t *testing.T) {
	b := newBench(t)
	reread := func(reason Reason, grafted bool) {
		t.Helper()
		b.reads()
		b.clock.Step(rereadAfter[0])
		b.expect(t, reason, grafted)
		if !b.reads() {
			t.Error("declarations are not read again")
		}
	}
	hidden := func(when string, want bool) {
		t.Helper()
		if got := b.Hidden(); got != want {
			t.Errorf("%s: hidden %t", when, got)
		}
	}
	hidden("before anything is known", true)
	b.expect(t, ReasonGrafted, true)
	hidden("grafted, and not read again", true)
	reread(ReasonGrafted, true)
	hidden("read again", false)
	b.expect(t, ReasonGrafted, true)
	hidden("unchanged", false)

	b.answer = refuse
	b.clock.Step(time.Minute)
	b.expect(t, ReasonNotServed, true)
	hidden("in the grace period", false)
	b.clock.Step(grace)
	b.fail = func(verb string, _ client.Object) error {
		if verb == "update" {
			hidden("before it is given back", true)
		}
		return nil
	}
	b.expect(t, ReasonNotServed, false)
	b.fail = nil
	reread(ReasonNotServed, false)
	hidden("given back", true)
	b.Settings.On = false
	hidden("off", false)
}

// A writer that applies OCM's CRD by a merge removes the fields, and leaves the
// annotation that records the graft.
func TestDeclarationsAreHiddenWhereOnlyTheRecordIsLeft(t *testing.T) {
	b := newBench(t)
	b.expect(t, ReasonGrafted, true)
	for range 2 {
		b.overwrite(t, func(crd *unstructured.Unstructured) { crd.SetAnnotations(b.crd(t).GetAnnotations()) })
		if _, err := b.reconcile(t); err != nil {
			t.Fatal(err)
		}
	}
	b.expectState(t, ReasonContested, false)
	b.readAgain()
	if !b.Hidden() {
		t.Error("add-ons that declare by field count as undeclared")
	}
	b.clock.Step(time.Second)
	b.expect(t, ReasonGrafted, true)
}
