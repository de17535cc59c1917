package terminal

import "testing"

func TestWidth(t *testing.T) {
	for text, want := range map[string]int{"": 0, "abc": 3, "日本": 4, "e\u0301": 1, "\x1b[31mred\x1b[0m": 3} {
		if got := Width(text); got != want {
			t.Errorf("%q has width %d, want %d", text, got, want)
		}
	}
}

func TestCut(t *testing.T) {
	for _, test := range []struct {
		text  string
		width int
		want  string
	}{{"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"日本語", 4, "日…"}, {"abc", -1, ""}} {
		if got := Cut(test.text, test.width); got != test.want {
			t.Errorf("%q in %d: %q, want %q", test.text, test.width, got, test.want)
		}
	}
}

func TestSplit(t *testing.T) {
	for _, test := range []struct {
		text       string
		width      int
		head, rest string
	}{{"abcd", 3, "abc", "d"}, {"日本", 3, "日", "本"}, {"日本", 1, "日", "本"}} {
		if head, rest := Split(test.text, test.width); head != test.head || rest != test.rest {
			t.Errorf("%q in %d: %q and %q", test.text, test.width, head, rest)
		}
	}
}
