package configurer

import (
	"errors"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/test/fixture"
)

// mode returns the mode in the stored config.
func mode(config *addonv1alpha1.AddOnDeploymentConfig) string {
	for _, variable := range config.Spec.CustomizedVariables {
		if variable.Name == "mode" {
			return variable.Value
		}
	}
	return ""
}

// Each step may be the last one of a leader, so a new leader takes each next one.
func TestGivingUpOutlivesALeader(t *testing.T) {
	b := newBench(t)
	b.seal("grpc")
	b.reconcile(t)
	for _, step := range []struct {
		reason         string
		age            time.Duration
		changed        bool
		mode           string
		emitted        []string
		writes, stores int
		again          time.Duration
	}{
		{"the first change is put back", 0, true, "grpc", nil, 1, 0, 0},
		{"the second one within an hour stays", 10 * time.Minute, true, "http", []string{EventGivenUp}, 0, 1, 70 * time.Minute},
		{"it stays for an hour", 69 * time.Minute, false, "http", []string{EventGivenUp}, 0, 0, 70 * time.Minute},
		{"then it is put back", 70 * time.Minute, false, "grpc", nil, 1, 0, 0},
		{"the third one stays for two hours", 80 * time.Minute, true, "http", []string{EventGivenUp}, 0, 1, 200 * time.Minute},
		{"then it is put back again", 200 * time.Minute, false, "grpc", nil, 1, 0, 0},
		{"after a calm, it is put back at once", 400 * time.Minute, true, "grpc", nil, 1, 0, 0},
	} {
		b.restart()
		b.clock.SetTime(fixture.Now.Add(step.age))
		if step.changed {
			b.change(t, &addonv1alpha1.AddOnDeploymentConfig{ObjectMeta: metav1.ObjectMeta{Namespace: base.Namespace, Name: "interlock-base"}},
				"spec: {customizedVariables: [{name: mode, value: http}]}")
		}
		b.applied, b.patched = 0, 0
		config, emitted, result := b.reconcile(t)
		if mode(config) != step.mode || b.applied != step.writes || b.patched != step.stores || !slices.Equal(emitted, step.emitted) {
			t.Errorf("%s: mode %s, %d writes, %d of the record, emitted %q", step.reason, mode(config), b.applied, b.patched, emitted)
		}
		want := time.Duration(0)
		if step.again > 0 {
			want = step.again - step.age
		}
		if got := result.RequeueAfter; got != want {
			t.Errorf("%s: enqueued again after %s, want %s", step.reason, got, want)
		}
		if _, emitted, _ := b.reconcile(t); len(emitted) > 0 {
			t.Errorf("%s: emitted again: %q", step.reason, emitted)
		}
	}
}

// giveUp makes another writer change the sealed mode until it stays.
func (b *bench) giveUp(t *testing.T) *addonv1alpha1.AddOnDeploymentConfig {
	t.Helper()
	b.seal("grpc")
	config, _, _ := b.reconcile(t)
	for range 2 {
		b.change(t, config, "spec: {customizedVariables: [{name: mode, value: http}]}")
		config, _, _ = b.reconcile(t)
	}
	if mode(config) != "http" {
		t.Fatalf("it is not given up: %v", config.Spec)
	}
	return config
}

func TestNothingIsWrittenWhileSettingsAreGivenUp(t *testing.T) {
	b := newBench(t)
	b.giveUp(t)
	previous := b.applied
	b.seal("quic")
	if _, _, result := b.reconcile(t); b.applied != previous || result.RequeueAfter == 0 {
		t.Errorf("%d writes more, %+v", b.applied-previous, result)
	}
	b.clock.SetTime(fixture.Now.Add(time.Hour))
	if config, _, _ := b.reconcile(t); mode(config) != "quic" {
		t.Errorf("after the hour: %+v", config.Spec)
	}
}

// The owner is what deletes the config with its add-on.
func TestTheRecordIsStoredWithTheOwner(t *testing.T) {
	b := newBench(t)
	b.seal("grpc")
	config, _, _ := b.reconcile(t)
	b.change(t, config, "spec: {customizedVariables: [{name: mode, value: http}]}")
	config, _, _ = b.reconcile(t)
	b.change(t, config, "{metadata: {ownerReferences: null}, spec: {customizedVariables: [{name: mode, value: http}]}}")
	if config, _, _ := b.reconcile(t); mode(config) != "http" || len(config.OwnerReferences) != 1 || config.OwnerReferences[0].UID != "uid" {
		t.Errorf("got %v, owned by %v", config.Spec, config.OwnerReferences)
	}
}

func TestARecordThatCannotBeStored(t *testing.T) {
	b := newBench(t)
	b.seal("grpc")
	config, _, _ := b.reconcile(t)
	b.change(t, config, "spec: {customizedVariables: [{name: mode, value: http}]}")
	config, _, _ = b.reconcile(t)
	b.change(t, config, "spec: {customizedVariables: [{name: mode, value: http}]}")
	b.refused["patch"] = errors.New("the hub is busy")
	if _, err := b.Reconcile(t.Context(), reconcile.Request{NamespacedName: base}); err == nil || len(b.recorder.Events) > 0 {
		t.Errorf("%v, %d events", err, len(b.recorder.Events))
	}
	delete(b.refused, "patch")
	if config, emitted, _ := b.reconcile(t); mode(config) != "http" || !slices.Equal(emitted, []string{EventGivenUp}) {
		t.Errorf("got %v, emitted %q", config.Spec, emitted)
	}
}

// OCM deploys nothing without the config, and the record of changes is deleted with it. So it is created again, at the rate of all writes.
func TestADeletedConfigIsCreatedAgain(t *testing.T) {
	b := newBench(t)
	config := b.giveUp(t)
	var reported []string
	b.applied = 0
	for i := range 3600 {
		b.clock.SetTime(fixture.Now.Add(time.Duration(i) * time.Second))
		if config.Name != "" {
			if err := b.hub.Delete(t.Context(), config); err != nil {
				t.Fatal(err)
			}
		}
		var emitted []string
		config, emitted, _ = b.reconcile(t)
		if i == 0 && mode(config) != "grpc" {
			t.Error("it is not created at once")
		}
		reported = append(reported, emitted...)
	}
	if b.applied < 10 || b.applied > 20 {
		t.Errorf("%d writes in an hour", b.applied)
	}
	if len(reported) == 0 || len(reported) > 10 || slices.ContainsFunc(reported, func(reason string) bool { return reason != EventUnsteady }) {
		t.Errorf("emitted %v", reported)
	}
	b.restart()
	if config, _, _ := b.reconcile(t); mode(config) != "grpc" {
		t.Error("a new leader does not create it")
	}
}

// Settings that depend on their own values are written at intervals.
func TestSettingsThatNeverSettleArePaced(t *testing.T) {
	b := newBench(t)
	var said []string
	for i := range 3600 {
		b.clock.SetTime(fixture.Now.Add(time.Duration(i) * time.Second))
		b.request("leaf", []string{"one", "other"}[b.applied%2])
		_, emitted, _ := b.reconcile(t)
		said = append(said, emitted...)
	}
	if b.applied < 10 || b.applied > 20 {
		t.Errorf("%d writes in an hour", b.applied)
	}
	if len(said) == 0 || len(said) > 10 || slices.ContainsFunc(said, func(reason string) bool { return reason != EventUnsteady }) {
		t.Errorf("emitted %v", said)
	}
}
