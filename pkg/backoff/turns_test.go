package backoff

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
)

// queued are turns at one a second, of which one has just been taken, with the objects whose turn has come since, and when.
type queued struct {
	*Turns
	began time.Time
	come  []string
}

func newQueued(t *testing.T) *queued {
	t.Helper()
	q := &queued{began: time.Now()}
	q.Turns = NewTurns(clock.RealClock{}, 1, 1, func(object types.NamespacedName) {
		q.come = append(q.come, fmt.Sprintf("%s after %s", object.Name, time.Since(q.began)))
	})
	if !q.Has(types.NamespacedName{Name: "another"}, "one", time.Time{}) {
		t.Fatal("the first waits")
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); _ = q.Start(ctx) }()
	t.Cleanup(func() { stop(); <-done })
	return q
}

func named(name string) types.NamespacedName { return types.NamespacedName{Name: name} }

func TestTurnsFollowAtARateInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueued(t)
		for range 3 { // repeated requests change nothing
			for _, name := range []string{"c", "b", "a"} {
				if q.Has(named(name), "one", time.Time{}) {
					t.Errorf("%s does not wait", name)
				}
			}
		}
		time.Sleep(10 * time.Second) //nolint:forbidigo // the clock of synctest
		synctest.Wait()
		if want := []string{"c after 1s", "b after 2s", "a after 3s"}; !slices.Equal(q.come, want) {
			t.Errorf("came %q", q.come)
		}
		if !q.Has(named("d"), "one", time.Time{}) {
			t.Error("waits after a pause")
		}
	})
}

// The second condition of an object is written in the turn of the first. What is to be written after that waits for another turn.
func TestWritersShareATurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueued(t)
		before := time.Now().Add(-time.Minute)
		for writer, last := range map[string]time.Time{"one": before, "other": {}} {
			if q.Has(key, writer, last) {
				t.Errorf("%s: it is its turn already", last)
			}
		}
		time.Sleep(time.Second) //nolint:forbidigo // the clock of synctest
		synctest.Wait()
		for writer, last := range map[string]time.Time{"one": before, "other": {}} {
			if !q.Has(key, writer, last) {
				t.Errorf("%s: it is not its turn", last)
			}
		}
		if q.Has(key, "one", time.Now()) {
			t.Error("has another turn after a write")
		}
	})
}

// Objects that no longer wait take no turn from others.
func TestForgottenTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueued(t)
		for i := range 1000 {
			q.Has(named(fmt.Sprint(i)), "one", time.Time{})
		}
		q.Has(key, "one", time.Time{})
		synctest.Wait()
		for i := range 1000 {
			q.Forget(named(fmt.Sprint(i)))
		}
		time.Sleep(10 * time.Second) //nolint:forbidigo // the clock of synctest
		synctest.Wait()
		if want := []string{key.Name + " after 1s"}; !slices.Equal(q.come, want) {
			t.Errorf("came %q", q.come)
		}
		q.Forget(key)
		if len(q.queue)+len(q.waiting)+len(q.places) > 0 {
			t.Errorf("remembers %q and %v", q.queue, q.waiting)
		}
	})
}

// A writer whose text is right again leaves its place. The object keeps its own as long as its other writer waits.
func TestWritersThatNoLongerWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueued(t)
		for _, name := range []string{"both", "other", "none"} {
			for _, writer := range []string{"one", "other"} {
				q.Has(named(name), writer, time.Time{})
			}
		}
		for _, left := range []struct{ name, writer string }{{"other", "one"}, {"none", "one"}, {"none", "other"}} {
			if !q.MayWrite(named(left.name), left.writer, false, time.Time{}) {
				t.Errorf("%s may not write what cannot wait to %s", left.writer, left.name)
			}
		}
		time.Sleep(10 * time.Second) //nolint:forbidigo // the clock of synctest
		synctest.Wait()
		if want := []string{"both after 1s", "other after 2s"}; !slices.Equal(q.come, want) {
			t.Errorf("came %q", q.come)
		}
	})
}

// What waits and leaves again and again has one place.
func TestPlacesInTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueued(t)
		for range 1000 {
			for _, name := range []string{"a", "b", "c"} {
				q.Has(named(name), "one", time.Time{})
				q.MayWrite(named(name), "one", false, time.Time{})
			}
		}
		if len(q.queue) != 3 {
			t.Errorf("%d places", len(q.queue))
		}
		q.Has(named("b"), "one", time.Time{})
		q.Has(named("d"), "one", time.Time{})
		time.Sleep(10 * time.Second) //nolint:forbidigo // the clock of synctest
		synctest.Wait()
		if want := []string{"b after 1s", "d after 2s"}; !slices.Equal(q.come, want) {
			t.Errorf("came %q", q.come)
		}
	})
}

// Turns that are not used do not add up: after the next change, objects follow at the rate again.
func TestTurnsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueued(t)
		for _, name := range []string{"a", "b"} {
			q.Has(named(name), "one", time.Time{})
		}
		time.Sleep(time.Minute) //nolint:forbidigo // the clock of synctest
		synctest.Wait()
		if !q.Has(named("a"), "one", time.Time{}) || q.Has(named("b"), "one", time.Time{}) {
			t.Error("after a pause, one has its turn at once, and not another by a turn that ended")
		}
	})
}
