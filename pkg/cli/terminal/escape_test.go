package terminal

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
)

func TestEscape(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"plain text":              {"Required addon 'x' is not installed.", "Required addon 'x' is not installed."},
		"other scripts":           {"für Łukasz, 日本語 🙂", "für Łukasz, 日本語 🙂"},
		"line breaks and tabs":    {"a\n\tb", "a\n\tb"},
		"a color":                 {"\x1b[31mred\x1b[0m", "^[[31mred^[[0m"},
		"a window's title":        {"\x1b]0;owned\x07done", "^[]0;owned\\adone"},
		"a color in one byte":     {"\u009b31mred", `\u009b31mred`},
		"the start of the line":   {"failed\rok", `failed\rok`},
		"a deletion":              {"no\b\bok\x7f", `no\b\bok\x7f`},
		"text from right to left": {"a\u202eb", `a\u202eb`},
		"invalid UTF-8":           {"a\xffb", "a\ufffdb"},
	} {
		if got := Escape(test.text); got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}

func TestWriterEscapes(t *testing.T) {
	var out bytes.Buffer
	text := "error: \x1b[2Jgone\n"
	written, err := fmt.Fprint(NewWriter(&out), text)
	if err != nil || written != len(text) || out.String() != "error: ^[[2Jgone\n" {
		t.Errorf("wrote %q (%d bytes, error %v)", out.String(), written, err)
	}
}

func TestWriterReportsAnError(t *testing.T) {
	if _, err := NewWriter(closed{}).Write([]byte("x")); err == nil {
		t.Error("no error")
	}
}

type closed struct{}

func (closed) Write([]byte) (int, error) { return 0, errors.New("closed") }
