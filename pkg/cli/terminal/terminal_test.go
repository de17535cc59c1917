package terminal

import (
	"bytes"
	"os"
	"testing"
)

func TestOtherOutputHasNoScreen(t *testing.T) {
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if got := ScreenOf(file); got != (Screen{}) {
		t.Errorf("a file has %v", got)
	}
	if got := ScreenOf(&bytes.Buffer{}); got != (Screen{}) {
		t.Errorf("a buffer has %v", got)
	}
}

func TestColored(t *testing.T) {
	for _, test := range []struct {
		term, noColor string
		want          bool
	}{{"xterm", "", true}, {"xterm", "1", false}, {"dumb", "", false}, {"", "", false}} {
		t.Setenv("TERM", test.term)
		t.Setenv("NO_COLOR", test.noColor)
		if got := colored(); got != test.want {
			t.Errorf("TERM=%q NO_COLOR=%q: %t", test.term, test.noColor, got)
		}
	}
}

func TestPaint(t *testing.T) {
	if got := (Screen{Colored: true}).Paint(Red, "x"); got != "\x1b[31mx\x1b[0m" {
		t.Errorf("got %q", got)
	}
	if got := (Screen{}).Paint(Red, "x"); got != "x" {
		t.Errorf("got %q", got)
	}
}

func TestWrap(t *testing.T) {
	for _, test := range []struct {
		width, indent int
		text, want    string
	}{
		{0, 2, "a text that is not shown on a screen", "a text that is not shown on a screen"},
		{30, 2, "a text of more than thirty characters", "a text of more than thirty\n  characters"},
		{30, 25, "too little room for a column", "too little room for a column"},
		{24, 0, "aWordThatIsLongerThanTheScreenIs and more", "aWordThatIsLongerThanTheScreenIs\nand more"},
	} {
		if got := (Screen{Width: test.width}).Wrap(test.text, test.indent); got != test.want {
			t.Errorf("width %d, indent %d: got %q, want %q", test.width, test.indent, got, test.want)
		}
	}
}
