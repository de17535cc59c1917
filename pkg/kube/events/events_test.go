package events

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestNote(t *testing.T) {
	for _, test := range []struct {
		name, message, want string
	}{
		{"short", "all is well", "all is well"},
		{"what controls a terminal", "all\x1b[31m is\u202e well\n", "all [31m is  well "},
		{"as long as it may be", strings.Repeat("a", 1024), strings.Repeat("a", 1024)},
		{"too long", strings.Repeat("a", 1025), strings.Repeat("a", 1021) + "…"},
		{"cut inside of a character", strings.Repeat("漢", 400), strings.Repeat("漢", 340) + "…"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := Note(test.message)
			if got != test.want {
				t.Errorf("got %d bytes %q, want %d bytes %q", len(got), got, len(test.want), test.want)
			}
			if !utf8.ValidString(got) {
				t.Error("not valid UTF-8")
			}
		})
	}
}
