package apidiscovery

import (
	"context"
	"testing"
	"time"
)

func TestWhenToDiscoverAgain(t *testing.T) {
	failing := Group{Known: true, Failures: map[string]string{"v1": "503"}}
	g := &group{}
	expect := func(what string, result Group, err error, want time.Duration) {
		t.Helper()
		if _, got := g.discovered(result, err); got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
	expect("after the first result", things, nil, time.Second)
	expect("settling", things, nil, 5*time.Second)
	expect("settling", things, nil, 30*time.Second)
	expect("settled", things, nil, 0)
	expect("a version fails", failing, nil, time.Second)
	if g.known.incomplete() {
		t.Error("one failure replaces what is known")
	}
	expect("and again", failing, nil, 2*time.Second)
	expect("and again", failing, nil, 4*time.Second)
	if !g.known.incomplete() {
		t.Error("a confirmed failure does not replace what is known")
	}
	for range 20 {
		g.discovered(failing, nil)
	}
	expect("at last", failing, nil, retryIncomplete)
	expect("the API server does not respond", Group{}, context.DeadlineExceeded, retryUnreachable)
	if !g.known.incomplete() || !g.known.Known {
		t.Error("forgot what is known while the API server does not respond")
	}
	expect("it responds again", things, nil, 0)
}

func TestDiscoveredReportsChanges(t *testing.T) {
	g := &group{}
	for i, want := range []bool{true, false} {
		if changed, _ := g.discovered(things, nil); changed != want {
			t.Errorf("result %d: changed is %t", i+1, changed)
		}
	}
}
