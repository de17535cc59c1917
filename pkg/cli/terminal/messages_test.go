package terminal

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"
)

func TestMessages(t *testing.T) {
	now := clocktesting.NewFakePassiveClock(time.Unix(0, 0))
	show := func(out *Messages, below *bytes.Buffer) {
		out.Clock = now
		out.ShowProgress("1 of 3")
		out.ShowProgress("2 of 3") // too fast
		now.SetTime(now.Now().Add(time.Second))
		out.ShowProgress("3 of 3\x1b[2J, and more")
		fmt.Fprintln(out, "mess\x1bage")
		out.ShowProgress("again")
		fmt.Fprint(out.Above(below), "output")
		out.Clear()
	}
	var screen narrow
	show(NewMessages(&screen), &screen.Buffer)
	if got, want := screen.String(), "\r\x1b[K1 of 3\r\x1b[K3 of 3 […\r\x1b[Kmess age\n\r\x1b[Kagain\r\x1b[Koutput"; got != want {
		t.Errorf("a screen gets %q, want %q", got, want)
	}
	var pipe bytes.Buffer
	show(NewMessages(&pipe), &pipe)
	if got := pipe.String(); got != "mess age\noutput" {
		t.Errorf("a pipe gets %q", got)
	}
}

func TestNoMessages(t *testing.T) {
	var none *Messages
	none.ShowProgress("nothing")
	none.Clear()
	if got := ScreenOf(none.Above(&narrow{})); got.Width != 10 {
		t.Errorf("the output has %v", got)
	}
}
