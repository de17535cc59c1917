package graft

import (
	"strings"
	"testing"
	"time"
)

// restart replaces the reconciler by the reconciler of an addon-manager that starts with the flags.
func (b *bench) restart(enabled, keep bool) {
	fresh := &Reconciler{
		Settings: b.Settings, Client: b.Client, Clock: b.Clock, Recorder: b.Recorder,
		Metrics: b.Metrics, Records: b.Records, Changed: b.Changed, Lease: b.Lease, schemas: b.schemas,
	}
	fresh.Settings.Enabled, fresh.Settings.Keep = enabled, keep
	b.Reconciler = fresh
	b.prepare()
}

func TestWithoutASettingAGraftIsKept(t *testing.T) {
	b := newBench(t)
	b.expect(t, ReasonGrafted, true)
	b.emitted()

	b.restart(false, true)
	b.expect(t, ReasonGrafted, true)
	if !b.Present() {
		t.Error("lost fields are not written back")
	}
	if emitted := b.emitted(); len(emitted) != 1 || !strings.Contains(emitted[0], "stays on as before: --graft-crds=false gives") {
		t.Errorf("emitted %q", emitted)
	}
	if b.writes != 1 {
		t.Errorf("%d writes", b.writes)
	}

	b.overwrite(t) // an upgrade of OCM
	b.expect(t, ReasonGrafted, true)
	b.respond = refuse
	b.clock.Step(time.Minute)
	b.expect(t, ReasonNotServed, true)
	b.clock.Step(grace)
	b.expect(t, ReasonNotServed, false)
	b.respond = nil
	b.clock.Step(time.Minute)
	b.expect(t, ReasonGrafted, true)

	b.restart(false, false)
	b.expect(t, ReasonOff, false)
}

func TestWithoutASettingNothingIsGrafted(t *testing.T) {
	b := newBench(t)
	b.restart(false, true)
	b.expect(t, ReasonOff, false)
	if emitted := b.emitted(); b.writes != 0 || len(emitted) > 0 {
		t.Errorf("%d writes, emitted %q", b.writes, emitted)
	}
}
