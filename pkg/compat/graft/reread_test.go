package graft

import (
	"testing"
	"time"
)

func TestDeclarationsAreReadTwiceAfterAChange(t *testing.T) {
	type look struct {
		after   time.Duration // since the change
		due     bool
		next    time.Duration
		pending bool
	}
	s := time.Second
	for name, looks := range map[string][]look{
		"as scheduled": {
			{0, false, s, true},
			{s, true, 9 * s, false},
			{2 * s, false, 8 * s, false},
			{10 * s, true, 0, false},
			{20 * s, false, 0, false},
		},
		"a late look":      {{3 * s, true, 7 * s, false}, {10 * s, true, 0, false}},
		"a very late look": {{time.Hour, true, 0, false}, {2 * time.Hour, false, 0, false}},
	} {
		t.Run(name, func(t *testing.T) {
			var r rereads
			r.start(aTime, true)
			for _, want := range looks {
				due, next := r.take(aTime.Add(want.after))
				if got := (look{want.after, due, next, r.pending()}); got != want {
					t.Errorf("got %+v, want %+v", got, want)
				}
			}
		})
	}
}

func TestAnotherChangeStartsOver(t *testing.T) {
	var r rereads
	r.start(aTime, true)
	r.start(aTime.Add(900*time.Millisecond), true)
	if due, next := r.take(aTime.Add(time.Second)); due || next != 900*time.Millisecond || !r.pending() {
		t.Errorf("due %t, next after %s, pending %t", due, next, r.pending())
	}
}

func TestAStartWithoutAChangeKeepsWhatIsPending(t *testing.T) {
	var r rereads
	r.start(aTime, false)
	if r.pending() {
		t.Error("pending without a change")
	}
	r.start(aTime, true)
	r.start(aTime, false)
	if !r.pending() {
		t.Error("a change is forgotten")
	}
}
