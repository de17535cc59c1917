package terminal

import (
	"bytes"
	"fmt"
	"testing"
)

// narrow is an output on a screen of 10 columns.
type narrow struct{ bytes.Buffer }

func (*narrow) Screen() Screen { return Screen{Width: 10} }

func TestProgress(t *testing.T) {
	show := func(progress *Progress) {
		progress.Show("1 of 2")
		progress.Show("2 of 2, and more")
		fmt.Fprintln(progress.Below(), "below")
		progress.Finish()
	}
	var pipe bytes.Buffer
	show(NewProgress(&pipe))
	if got := pipe.String(); got != "1 of 2\n2 of 2, and more\nbelow\n" {
		t.Errorf("a pipe gets %q", got)
	}
	var screen narrow
	show(NewProgress(&screen))
	if got := screen.String(); got != "\r\x1b[K1 of 2\r\x1b[K2 of 2, …\nbelow\n" {
		t.Errorf("a screen gets %q", got)
	}
}

func TestOutputBelowHasTheSameScreen(t *testing.T) {
	if got := ScreenOf(NewProgress(&narrow{}).Below()); got.Width != 10 {
		t.Errorf("its screen is %v", got)
	}
}

func TestAnswers(t *testing.T) {
	if Answers(&bytes.Buffer{}) {
		t.Error("a buffer answers")
	}
}
