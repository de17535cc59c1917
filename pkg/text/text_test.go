package text

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestOneLine(t *testing.T) {
	for input, want := range map[string]string{
		"plain":                      "plain",
		"one\ntwo\r\x00\u2028\u202e": "one two    ",
		"caf\xe9\xff!":               "caf\uFFFD!",
		"日本語 👩‍💻":                    "日本語 👩‍💻",
		"می\u200cخواهم \u0600":       "می\u200cخواهم \u0600",
		"ad\u200bm\ufeffi\u00adn":    "ad m i n",
	} {
		if got := OneLine(input); got != want {
			t.Errorf("%q: got %q, want %q", input, got, want)
		}
	}
}

func TestCut(t *testing.T) {
	for _, tc := range []struct {
		text         string
		limit        int
		want, inByte string
	}{
		{"short", 5, "short", "short"},
		{"shorter", 5, "shor…", "sh…"},
		{"üüüü", 4, "üüüü", "…"},
		{"üüüüü", 4, "üüü…", "…"},
		{"üüüüü", 6, "üüüüü", "ü…"},
	} {
		if got := Cut(tc.text, tc.limit); got != tc.want {
			t.Errorf("%q at %d characters: %q, want %q", tc.text, tc.limit, got, tc.want)
		}
		if got := CutBytes(tc.text, tc.limit); got != tc.inByte {
			t.Errorf("%q at %d bytes: %q, want %q", tc.text, tc.limit, got, tc.inByte)
		}
	}
}

func TestNames(t *testing.T) {
	if got, want := Name(strings.Repeat("n", 300)+"\n"), strings.Repeat("n", 252)+"…"; got != want {
		t.Errorf("name %q", got)
	}
	if got := Excerpt(strings.Repeat("ü", 300)); utf8.RuneCountInString(got) != 200 {
		t.Errorf("an excerpt of %d characters", utf8.RuneCountInString(got))
	}
	for want, names := range map[string][]string{
		"": nil, "'a'": {"a"}, "'a' or 'b'": {"a", "b"}, "'a' or 'b' or 'c' or 'd' or 'e' or 2 more": {"a", "b", "c", "d", "e", "f", "g"},
	} {
		if got := Names(names, " or "); got != want {
			t.Errorf("%v: got %q, want %q", names, got, want)
		}
	}
}

func FuzzSafe(f *testing.F) {
	for _, seed := range []string{
		"plain", "\x1b]0;owned\x07\x1b[31m", "\u009b31m\x7f", "a\u202eb\u2066\u061c",
		"\u2028\u2029\r\n\t", "\xff\xc2",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, foreign string) {
		var log strings.Builder
		if _, err := io.WriteString(NewWriter(&log), foreign); err != nil {
			t.Fatal(err)
		}
		for _, safe := range []string{
			OneLine(foreign), Name(foreign), Names([]string{foreign, foreign}, " or "), Cut(OneLine(foreign), 3), CutBytes(OneLine(foreign), 5),
			strings.NewReplacer("\n", "", "\t", "").Replace(log.String()),
		} {
			if !utf8.ValidString(safe) || strings.ContainsFunc(safe, func(r rune) bool {
				return unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp) ||
					strings.ContainsRune("\u200b\u2060\ufeff", r)
			}) {
				t.Errorf("%q became %q", foreign, safe)
			}
		}
	})
}

func TestWriterKeepsLines(t *testing.T) {
	var out strings.Builder
	line := "error:\t\x1b[2Jgone\n"
	written, err := io.WriteString(NewWriter(&out), line)
	if err != nil || written != len(line) || out.String() != "error:\t [2Jgone\n" {
		t.Errorf("wrote %q (%d bytes, error %v)", out.String(), written, err)
	}
	if _, err := NewWriter(closed{}).Write([]byte("x")); err == nil {
		t.Error("no error")
	}
}

type closed struct{}

func (closed) Write([]byte) (int, error) { return 0, errors.New("closed") }

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0 add-ons", 1: "1 add-on", 20: "20 add-ons"} {
		if got := Count(n, "add-on"); got != want {
			t.Errorf("%d: %q", n, got)
		}
	}
}

func TestFailure(t *testing.T) {
	late := fmt.Errorf("read ManagedCluster cluster1: %w", &url.Error{Op: "Get", URL: "https://hub/apis", Err: context.DeadlineExceeded})
	for got, want := range map[string]string{
		Failure(late): "the hub did not answer in time", Failure(errors.New("the hub\nis busy")): "the hub is busy",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
