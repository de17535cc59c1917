package graft

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestDeclarationsAreHiddenUntilTheFieldsAreThereAndRead(t *testing.T) {
	b := newBench(t)
	reread := func() {
		<-b.Rereader.changes
		b.Rereader.stale.Store(false)
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
	reread()
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
	reread()
	hidden("given back", true)
	b.Settings.On = false
	hidden("off", false)
}

// Whoever applies OCM's CRD by a merge leaves the annotation that records the
// graft, and takes the fields.
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
	b.Rereader.stale.Store(false)
	if !b.Hidden() {
		t.Error("what add-ons declare by field is taken for nothing")
	}
	b.clock.Step(time.Second)
	b.expect(t, ReasonGrafted, true)
}
