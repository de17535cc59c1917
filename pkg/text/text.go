// Package text makes texts of other writers safe for Interlock's own messages:
// valid, on a single line, and bounded. It also writes numbers with their nouns.
package text

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxName    = 253 // of a Kubernetes object; a longer name matches nothing
	maxExcerpt = 200
	ellipsis   = "…"
)

// OneLine replaces characters that would break a line or change the direction
// of the text, characters without a width, and invalid UTF-8.
func OneLine(text string) string { return replace(text, "") }

func replace(text, kept string) string {
	return strings.Map(func(r rune) rune {
		if controls(r) && !strings.ContainsRune(kept, r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
}

// controls reports whether a character controls a terminal, or the direction of text, or hides in it. The characters that join letters have
// no width either, but some scripts need them.
func controls(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp) ||
		unicode.Is(unicode.Cf, r) && !unicode.In(r, unicode.Join_Control, unicode.Prepended_Concatenation_Mark)
}

// NewWriter returns a writer that makes text safe as OneLine does, but keeps line breaks
// and tabs. Each write has to contain whole characters.
func NewWriter(out io.Writer) io.Writer { return writer{out} }

type writer struct{ out io.Writer }

// Write implements io.Writer.
func (w writer) Write(lines []byte) (int, error) {
	if _, err := io.WriteString(w.out, replace(string(lines), "\n\t")); err != nil {
		return 0, err
	}
	return len(lines), nil
}

// Cut shortens a text to the limit in characters. A shortened text ends with an ellipsis.
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

// Excerpt returns the part of a wrong value that an error repeats.
func Excerpt(value string) string { return Cut(value, maxExcerpt) }

// Name returns a safe name of an object: on a single line, and no longer than a
// name can be.
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

// Count returns a number with its noun: "1 add-on", "2 add-ons". The noun is in the singular, and its plural ends with s.
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// Failure returns the text about an error for a message. It does not repeat the error of a request that timed out, because its address
// would leave no room for the cause.
func Failure(err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return "the hub did not answer in time"
	}
	return Excerpt(OneLine(err.Error()))
}
