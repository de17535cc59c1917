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
	if !q.Has(types.NamespacedName{Name: "another"}, time.Time{}) {
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
				if q.Has(named(name), time.Time{}) {
					t.Errorf("%s does not wait", name)
				}
			}
		}
		time.Sleep(10 * time.Second) //nolint:forbidigo // the clock of synctest
		synctest.Wait()
		if want := []string{"c after 1s", "b after 2s", "a after 3s"}; !slices.Equal(q.come, want) {
			t.Errorf("came %q", q.come)
		}
		if !q.Has(named("d"), time.Time{}) {
			t.Error("waits after a pause")
		}
	})
}

// What is to be written after a write waits for another turn.
func TestATurnEndsWithTheWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueued(t)
		before := time.Now().Add(-time.Minute)
		if q.Has(key, before) {
			t.Error("it is its turn already")
		}
		time.Sleep(time.Second) //nolint:forbidigo // the clock of synctest
		synctest.Wait()
		if !q.Has(key, before) {
			t.Error("it is not its turn")
		}
		if q.Has(key, time.Now()) {
			t.Error("has another turn after a write")
		}
	})
}

// Objects that no longer wait take no turn from others.
func TestForgottenTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueued(t)
		for i := range 1000 {
			q.Has(named(fmt.Sprint(i)), time.Time{})
		}
		q.Has(key, time.Time{})
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

// An object whose text is right again leaves its place to others.
func TestObjectsThatNoLongerWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueued(t)
		for _, name := range []string{"one", "none", "other"} {
			q.Has(named(name), time.Time{})
		}
		if !q.MayWrite(named("none"), false, time.Time{}) {
			t.Error("what cannot wait may not be written")
		}
		time.Sleep(10 * time.Second) //nolint:forbidigo // the clock of synctest
		synctest.Wait()
		if want := []string{"one after 1s", "other after 2s"}; !slices.Equal(q.come, want) {
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
				q.Has(named(name), time.Time{})
				q.MayWrite(named(name), false, time.Time{})
			}
		}
		if len(q.queue) != 3 {
			t.Errorf("%d places", len(q.queue))
		}
		q.Has(named("b"), time.Time{})
		q.Has(named("d"), time.Time{})
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
			q.Has(named(name), time.Time{})
		}
		time.Sleep(time.Minute) //nolint:forbidigo // the clock of synctest
		synctest.Wait()
		if !q.Has(named("a"), time.Time{}) || q.Has(named("b"), time.Time{}) {
			t.Error("after a pause, one has its turn at once, and not another by a turn that ended")
		}
	})
}
