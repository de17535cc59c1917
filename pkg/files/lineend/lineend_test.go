package lineend

import "testing"

func TestUnix(t *testing.T) {
	for content, want := range map[string]string{
		"a: 1\r\nb: 2\r\n": "a: 1\nb: 2\n",
		"a: 1\nb: 2\n":     "a: 1\nb: 2\n",
		"a\r\n\r\nb":       "a\n\nb",
		"a\rb":             "a\rb",
		"":                 "",
	} {
		if got := Unix([]byte(content)); string(got) != want {
			t.Errorf("%q: got %q", content, got)
		}
	}
}
