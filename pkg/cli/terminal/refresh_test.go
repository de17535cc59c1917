package terminal

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
)

// low is an output on a screen of 10 columns and 5 lines.
type low struct{ bytes.Buffer }

func (*low) Screen() Screen { return Screen{Width: 10, Height: 5} }

func show(t *testing.T, r *Refresher, content string) {
	t.Helper()
	now := time.Date(2026, 8, 1, 10, 0, 0, 0, time.UTC)
	if err := r.Show(content, now, func(out io.Writer) error {
		_, err := fmt.Fprintln(out, content)
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

func TestRefresherWritesOnlyChanges(t *testing.T) {
	var out bytes.Buffer
	r := NewRefresher(&out)
	for _, content := range []string{"a", "a", "b"} {
		show(t, r, content)
	}
	const heading = "2026-08-01 10:00:00 UTC, until you interrupt it:\n"
	if want := heading + "a\n\n" + heading + "b\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

func TestRefresherReplacesPage(t *testing.T) {
	screen := &narrow{}
	r := NewRefresher(screen)
	show(t, r, "a")
	show(t, r, "a")
	if n := strings.Count(screen.String(), "\x1b[H\x1b[2J2026"); n != 2 {
		t.Errorf("replaced %d times: %q", n, screen)
	}
}

// TestPageFitsScreen tests lines that a screen shows in several lines, too.
func TestPageFitsScreen(t *testing.T) {
	for page, want := range map[string]string{
		"1\n2\n3\n":                 "1\n2\n3\n",
		"1\n2\n3\n4\n":              "1\n2\n3\n… 1 more line\n",
		"1\ntwo lines long\n3\n4\n": "1\ntwo lines long\n… 2 more lines\n",
	} {
		if got := fitted(page, (&low{}).Screen()); got != want {
			t.Errorf("%q: got %q, want %q", page, got, want)
		}
	}
}
