package backoff

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
)

func TestTurnsFollowAtARate(t *testing.T) {
	clk := clocktesting.NewFakeClock(time.Unix(0, 0))
	turns := NewTurns(clk, 2, 3)
	for i, want := range []time.Duration{0, 0, 0, 500 * time.Millisecond, time.Second, 1500 * time.Millisecond} {
		object := types.NamespacedName{Name: fmt.Sprint(i)}
		for range 3 { // a request does not take another turn
			if wait := turns.Wait(object, time.Time{}); wait != want {
				t.Errorf("%d waits %s, want %s", i, wait, want)
			}
		}
	}
}

// The second condition of an object is written in the turn of the first. What is to be written after that has another turn.
func TestWritersShareATurn(t *testing.T) {
	clk := clocktesting.NewFakeClock(time.Unix(0, 0))
	turns := NewTurns(clk, 1, 1)
	turns.Wait(types.NamespacedName{Name: "another"}, time.Time{})
	before := clk.Now().Add(-time.Minute)
	for name, last := range map[string]time.Time{"first": before, "second": {}} {
		if wait := turns.Wait(key, last); wait != time.Second {
			t.Errorf("%s waits %s", name, wait)
		}
	}
	clk.Step(time.Second)
	for name, last := range map[string]time.Time{"first": before, "second": {}} {
		if wait := turns.Wait(key, last); wait != 0 {
			t.Errorf("%s waits %s in its turn", name, wait)
		}
	}
	if wait := turns.Wait(key, clk.Now()); wait != time.Second {
		t.Errorf("waits %s after its turn", wait)
	}
}

func TestForgottenTurns(t *testing.T) {
	clk := clocktesting.NewFakeClock(time.Unix(0, 0))
	turns := NewTurns(clk, 1, 1)
	turns.Wait(types.NamespacedName{Name: "another"}, time.Time{})
	turns.Wait(key, time.Time{})
	turns.Forget(key)
	if wait := turns.Wait(key, time.Time{}); wait != 2*time.Second {
		t.Errorf("waits %s", wait)
	}
}
