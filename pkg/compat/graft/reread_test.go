package graft

import (
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/watch"
)

func TestAnExpiringWatchForwardsAndEndsAsTooOld(t *testing.T) {
	inner, expired := watch.NewFake(), make(chan struct{})
	stream := newExpiring(inner, expired)
	go inner.Add(nil)
	if got := <-stream.ResultChan(); got.Type != watch.Added {
		t.Errorf("got %v", got)
	}
	close(expired)
	got := <-stream.ResultChan()
	if got.Type != watch.Error || !apierrors.IsResourceExpired(apierrors.FromObject(got.Object)) {
		t.Errorf("got %v, want an error that has the reflector list again", got)
	}
	stream.Stop()
	stream.Stop()
	for range stream.ResultChan() {
		t.Error("an event after the stop")
	}
	if !inner.IsStopped() {
		t.Error("the watch goes on behind it")
	}
}

func TestAnExpiringWatchEndsWithTheOneBehindIt(t *testing.T) {
	inner := watch.NewFake()
	stream := newExpiring(inner, make(chan struct{}))
	inner.Stop()
	for range stream.ResultChan() {
		t.Error("an event after the end")
	}
}

func TestRereaderExpiresWatchesThatAreOpen(t *testing.T) {
	r := NewRereader()
	before := r.current()
	r.expire()
	select {
	case <-before:
	default:
		t.Error("a watch of before is not expired")
	}
	select {
	case <-r.current():
		t.Error("a new watch is expired")
	default:
	}
}

func TestWhatIsReadIsStaleUntilItWasReadAgain(t *testing.T) {
	defer func(after []time.Duration, settles time.Duration) { rereadAfter, settled = after, settles }(rereadAfter, settled)
	rereadAfter, settled = []time.Duration{time.Millisecond, time.Millisecond}, time.Millisecond
	r := NewRereader()
	before := r.current()
	r.Changed()
	r.Changed() // again, before the first has been taken
	if !r.Stale() {
		t.Error("not stale after a change")
	}
	<-r.changes
	r.reread(t.Context())
	select {
	case <-before:
	default:
		t.Error("watches of before go on")
	}
	if r.Stale() {
		t.Error("stale although all was read again")
	}
	if len(r.Told) != 1 {
		t.Error("nobody is told")
	}
}
