package controllers

import (
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

func TestAt(t *testing.T) {
	now := time.Date(2026, 8, 1, 10, 0, 0, 0, time.UTC)
	if got := At(now.Add(time.Minute), now); got.RequeueAfter != time.Minute {
		t.Errorf("brought back after %s", got.RequeueAfter)
	}
	if got := At(now.Add(-time.Minute), now); got.RequeueAfter <= 0 {
		t.Errorf("brought back after %s, which is never", got.RequeueAfter)
	}
	if got := At(time.Time{}, now); got != (reconcile.Result{}) {
		t.Errorf("brought back although there is no moment: %+v", got)
	}
}

func TestSooner(t *testing.T) {
	never, now := time.Time{}, time.Date(2026, 8, 1, 10, 0, 0, 0, time.UTC)
	later := now.Add(time.Minute)
	for _, moments := range [][]time.Time{{now}, {now, later}, {later, now}, {never, now}, {now, never}, {never, later, now, never}} {
		if got := Sooner(moments...); !got.Equal(now) {
			t.Errorf("%v: %v", moments, got)
		}
	}
	if got := Sooner(never, never); !got.IsZero() {
		t.Errorf("without a moment: %v", got)
	}
}

// deferring postpones one key.
type deferring struct {
	reconcile.Reconciler
	key reconcile.Request
}

func (d deferring) Postponed(key reconcile.Request) bool { return key == d.key }

// Keys that wait for each other must not set the delays of their failures back.
func TestDelaysOfKeysThatArePostponed(t *testing.T) {
	waiting, done := reconcile.Request{}, reconcile.Request{}
	waiting.Name, done.Name = "waiting", "done"
	limiter := newLimiter(deferring{key: waiting}, RetryOnHub)
	for _, key := range []reconcile.Request{waiting, done} {
		limiter.When(key)
		limiter.Forget(key)
	}
	if got := limiter.NumRequeues(waiting); got != 1 {
		t.Errorf("%d failures of a postponed key", got)
	}
	if got := limiter.NumRequeues(done); got != 0 {
		t.Errorf("%d failures of a key that has succeeded", got)
	}
}
