package apidiscovery

import (
	"context"
	"testing"
	"time"
)

func TestDelayOfNextDiscovery(t *testing.T) {
	failing := Group{Discovered: true, Failures: map[string]string{"v1": "503"}}
	g := &group{}
	expect := func(situation string, result Group, err error, want time.Duration) {
		t.Helper()
		if _, got := g.discovered(result, err); got != want {
			t.Errorf("%s: %s, want %s", situation, got, want)
		}
	}
	expect("after the first result", things, nil, time.Second)
	expect("settling", things, nil, 5*time.Second)
	expect("settling", things, nil, 30*time.Second)
	expect("settled", things, nil, 0)
	expect("a version fails", failing, nil, time.Second)
	if g.result.incomplete() {
		t.Error("a single failure replaces the last result")
	}
	expect("and again", failing, nil, 2*time.Second)
	expect("and again", failing, nil, 4*time.Second)
	if !g.result.incomplete() {
		t.Error("a confirmed failure does not replace the last result")
	}
	for range 20 {
		g.discovered(failing, nil)
	}
	expect("at last", failing, nil, retryIncomplete)
	expect("the API server does not respond", Group{}, context.DeadlineExceeded, retryUnreachable)
	if !g.result.incomplete() || !g.result.Discovered {
		t.Error("forgot the last result while the API server does not respond")
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
