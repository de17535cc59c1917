// Package text makes text of other writers safe to repeat in a message of
// ours: valid, on one line, and bounded.
package text

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxName    = 253 // of a Kubernetes object; a longer name matches nothing
	maxExcerpt = 200
	ellipsis   = "…"
)

// OneLine replaces what would break a line or change the order in which the
// text is written, and what is not valid UTF-8.
func OneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp, unicode.Bidi_Control) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
}

// Cut shortens text to at most limit characters, the last one then an ellipsis.
func Cut(text string, limit int) string {
	if utf8.RuneCountInString(text) <= limit {
		return text
	}
	runes := []rune(text)
	return string(runes[:max(0, limit-1)]) + ellipsis
}

// CutBytes is Cut for a limit in bytes.
func CutBytes(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	end := limit - len(ellipsis)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + ellipsis
}

// Excerpt is how much of a wrong value an error repeats.
func Excerpt(value string) string { return Cut(value, maxExcerpt) }

// Name makes the name of an object safe: on one line, and no longer than a name
// can be.
func Name(name string) string { return Cut(OneLine(name), maxName) }

// Names quotes the first names and counts the others.
func Names(names []string, separator string) string {
	const most = 5
	var shown []string
	for i, name := range names {
		if i == most {
			shown = append(shown, fmt.Sprintf("%d more", len(names)-most))
			break
		}
		shown = append(shown, "'"+Name(name)+"'")
	}
	return strings.Join(shown, separator)
}
