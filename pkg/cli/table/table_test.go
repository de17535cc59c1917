package table

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestForeignTextCannotControlTheTerminal(t *testing.T) {
	var out bytes.Buffer
	err := Print(&out, []string{"NAME", "MESSAGE"}, [][]string{
		{"title", "\x1b]0;owned\x07done"},
		{"color", "\x1b[31mred\x1b[0m"},
		{"lines", "first\nsecond\r\nthird\tfourth\ffifth"},
		{"empty", ""},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := `NAME    MESSAGE
title   ]0;owned done
color   [31mred [0m
lines   first second third fourth fifth
empty   -
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

func TestLongMessagesAreNotCut(t *testing.T) {
	var out bytes.Buffer
	message := strings.Repeat("a long message ", 1000) + "with an end"
	if err := Print(&out, []string{"MESSAGE"}, [][]string{{message}}); err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(out.String(), "with an end\n") {
		t.Errorf("%d of %d characters", out.Len(), len(message))
	}
}

func TestErrorOfOutputIsReturned(t *testing.T) {
	if err := Print(closed{}, []string{"NAME"}, [][]string{{"x"}}); err == nil {
		t.Error("no error")
	}
}

type closed struct{}

func (closed) Write([]byte) (int, error) { return 0, errors.New("closed") }
