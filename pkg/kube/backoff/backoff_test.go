package backoff

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
)

var (
	key  = types.NamespacedName{Namespace: "cluster1", Name: "leaf"}
	down = Condition(metav1.Condition{Status: metav1.ConditionFalse, Reason: "Down", Message: "it is down"})
	up   = Condition(metav1.Condition{Status: metav1.ConditionTrue, Reason: "Up", Message: "it is up"})
)

func TestOwnChangesNeverWait(t *testing.T) {
	clk := clocktesting.NewFakeClock(time.Unix(0, 0))
	tracker := New(clk)
	for i, condition := range []Content{down, up, down, up, down} {
		if wait := tracker.Wait(key, condition); wait != 0 {
			t.Fatalf("write %d: waits %s although nothing was overwritten", i, wait)
		}
		if tracker.Wrote(key, condition) {
			t.Fatalf("write %d: counted as contested", i)
		}
	}
}

func TestDelaysGrowWhileAnotherWriterOverwrites(t *testing.T) {
	clk := clocktesting.NewFakeClock(time.Unix(0, 0))
	tracker := New(clk)
	tracker.Wrote(key, down)

	want := []time.Duration{
		0, 500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second,
		15 * time.Second, 15 * time.Second,
	}
	for i, expected := range want {
		if wait := tracker.Wait(key, down); wait != expected {
			t.Fatalf("overwritten for the %d. time: waits %s, want %s", i+1, wait, expected)
		}
		clk.Step(expected)
		if wait := tracker.Wait(key, down); wait != 0 {
			t.Fatalf("still to wait %s after having waited", wait)
		}
		if contested := tracker.Wrote(key, down); contested != (i > 0) {
			t.Fatalf("overwritten for the %d. time: contested is %t", i+1, contested)
		}
	}
}

func TestPollingWriterIsCorrectedAtOnce(t *testing.T) {
	clk := clocktesting.NewFakeClock(time.Unix(0, 0))
	tracker := New(clk)
	tracker.Wrote(key, down)
	for i := range 10 {
		clk.Step(30 * time.Second)
		if wait := tracker.Wait(key, down); wait != 0 {
			t.Fatalf("waits %s", wait)
		}
		if contested := tracker.Wrote(key, down); contested != (i > 0) {
			t.Fatalf("poll %d: contested is %t", i+1, contested)
		}
	}
}

func TestLostRacesFarApartAreNotContested(t *testing.T) {
	clk := clocktesting.NewFakeClock(time.Unix(0, 0))
	tracker := New(clk)
	for range 5 {
		if tracker.Wrote(key, down) {
			t.Fatal("counted as contested")
		}
		clk.Step(time.Hour)
	}
}

func TestForgottenObjectStartsAnew(t *testing.T) {
	clk := clocktesting.NewFakeClock(time.Unix(0, 0))
	tracker := New(clk)
	for range 5 {
		tracker.Wrote(key, down)
	}
	tracker.Forget(key)
	if wait := tracker.Wait(key, down); wait != 0 {
		t.Fatalf("waits %s for an object that was forgotten", wait)
	}
	if tracker.Wrote(key, down) {
		t.Fatal("first write of a new object counted as contested")
	}
}

func TestReachedEndsWait(t *testing.T) {
	clk := clocktesting.NewFakeClock(time.Unix(0, 0))
	tracker := New(clk)
	for i := range 5 {
		tracker.Reached(key, down) // by the guard
		if wait := tracker.Wait(key, up); wait != 0 {
			t.Fatalf("change %d waits %s", i, wait)
		}
		if tracker.Wrote(key, up) {
			t.Fatalf("change %d counted as contested", i)
		}
		tracker.Reached(key, up) // its own event
	}
}

func TestOwnEventDoesNotEndWait(t *testing.T) {
	clk := clocktesting.NewFakeClock(time.Unix(0, 0))
	tracker := New(clk)
	for range 2 {
		tracker.Wrote(key, down)
		tracker.Reached(key, down)
	}
	if wait := tracker.Wait(key, down); wait != conditionLimits.First {
		t.Fatalf("waits %s, want %s", wait, conditionLimits.First)
	}
}

func TestOnlyLastWriteIsRepeated(t *testing.T) {
	tracker := New(clocktesting.NewFakeClock(time.Unix(0, 0)))
	if tracker.Repeats(key, down) {
		t.Error("the first write repeats another one")
	}
	tracker.Wrote(key, down)
	if !tracker.Repeats(key, down) || tracker.Repeats(key, up) {
		t.Error("what was written last is repeated, and nothing else")
	}
	tracker.Wrote(key, up)
	if tracker.Repeats(key, down) {
		t.Error("what was written before the last write is a change")
	}
}
