package graft

import (
	"errors"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"open-cluster-management.io/interlock/pkg/compat/crdgraft"
)

var errUnrecorded = errors.New("x and y would be lost")

// newerOCM adds a field to a version. The conversion would lose it.
func newerOCM(crd *unstructured.Unstructured) {
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	_ = unstructured.SetNestedField(versions[1].(map[string]any), "string",
		"schema", "openAPIV3Schema", "properties", "spec", "properties", "priority", "type")
	_ = unstructured.SetNestedSlice(crd.Object, versions, "spec", "versions")
}

func TestOnPurposeTheCRDIsGivenBackOnlyWithAllRecords(t *testing.T) {
	for name, tt := range map[string]struct {
		purpose func(t *testing.T, b *bench)
		reason  Reason
	}{
		"grafting is off": {func(_ *testing.T, b *bench) { b.Settings.Enabled = false }, ReasonOff},
		"the CRD is newer than this program": {func(t *testing.T, b *bench) {
			t.Helper()
			crd := b.crd(t)
			newerOCM(crd)
			if err := b.hub.Update(t.Context(), crd); err != nil {
				t.Fatal(err)
			}
		}, ReasonNewer},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.expect(t, ReasonGrafted, true)
			b.emitted()
			tt.purpose(t, b)
			b.unrecorded = errUnrecorded
			for range 2 {
				if wait := b.expect(t, ReasonRecordsMissing, true).RequeueAfter; wait != recordsInterval {
					t.Errorf("again after %s", wait)
				}
			}
			emitted := b.emitted()
			if len(emitted) != 1 || !strings.HasPrefix(emitted[0], "Warning CRDRecordsMissing") ||
				!strings.Contains(emitted[0], errUnrecorded.Error()) {
				t.Errorf("emitted %q", emitted)
			}
			b.unrecorded = nil
			b.expect(t, tt.reason, false)
			b.unrecorded = errUnrecorded
			b.expect(t, tt.reason, false) // nothing to give back
		})
	}
}

func TestARefusalKeepsTheGraftCurrent(t *testing.T) {
	b := newBench(t)
	b.expect(t, ReasonGrafted, true)
	b.Settings.Enabled, b.unrecorded = false, errUnrecorded
	b.clock.Step(defaultInterval)
	b.respond = refuse
	b.expect(t, ReasonNotServed, true)
	b.clock.Step(grace + time.Second)
	b.emitted()
	b.expect(t, ReasonNotServed, false)
	if emitted := b.emitted(); len(emitted) != 1 || !strings.Contains(emitted[0], errUnrecorded.Error()) {
		t.Errorf("emitted %q, which names no declaration that is lost", emitted)
	}
}

func TestRemovalsAreDoubtedAfterAGraft(t *testing.T) {
	b := newBench(t)
	count := func(want bool, delay time.Duration) {
		t.Helper()
		if got := crdgraft.RemovalsCount(b.crd(t).GetAnnotations(), b.clock.Now().Add(delay)); got != want {
			t.Errorf("after %s: %t", delay, got)
		}
	}
	count(true, 0) // not grafted
	b.expect(t, ReasonGrafted, true)
	b.clock.Step(time.Second)
	b.expect(t, ReasonGrafted, true)
	if b.writes != 1 {
		t.Errorf("%d writes", b.writes)
	}
	count(false, 28*time.Second)
	count(true, 29*time.Second)

	b.overwrite(t)
	b.expect(t, ReasonGrafted, true)
	count(true, 30*time.Second)
	b.overwrite(t)
	b.expect(t, ReasonContested, false)
	b.clock.Step(time.Second)
	b.expect(t, ReasonGrafted, true)
	count(false, 29*time.Minute)
	b.expect(t, ReasonGrafted, true)
	if b.writes != 3 {
		t.Errorf("%d writes", b.writes)
	}

	b.Settings.Enabled = false
	b.expect(t, ReasonOff, false)
	if _, ok := b.crd(t).GetAnnotations()[crdgraft.RemovalsAnnotation]; ok {
		t.Error("the annotation is left")
	}
}

func TestReportsWhenTheFieldsChange(t *testing.T) {
	b := newBench(t)
	for _, step := range []struct {
		name    string
		change  func()
		reason  Reason
		present bool
		changes int
	}{
		{"grafted", func() {}, ReasonGrafted, true, 1},
		{"as it was", func() {}, ReasonGrafted, true, 1},
		{"overwritten", func() { b.overwrite(t) }, ReasonGrafted, true, 2},
		{"off", func() { b.Settings.Enabled = false }, ReasonOff, false, 3},
	} {
		step.change()
		b.expect(t, step.reason, step.present)
		if b.changes != step.changes || b.Present() != step.present {
			t.Errorf("%s: %d changes, present %t", step.name, b.changes, b.Present())
		}
	}
	b = newBench(t)
	b.expect(t, ReasonGrafted, true)
	b.present.Store(false) // a new leader
	b.expect(t, ReasonGrafted, true)
	if b.changes != 2 {
		t.Error("a new leader does not read what the one before may have missed")
	}
}
