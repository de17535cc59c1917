package terminal

import (
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
)

// Width returns the number of columns of a text on a screen. Wide characters have two, and colors have none.
func Width(text string) int { return runewidth.StringWidth(colors.ReplaceAllString(text, "")) }

// Cut shortens a text to a width. A shortened text ends with an ellipsis.
func Cut(text string, width int) string {
	if width <= 0 {
		return ""
	}
	return runewidth.Truncate(text, width, "…")
}

// Split splits a text after the last character that fits into a width. The first part has at least one character.
func Split(text string, width int) (head, rest string) {
	head = runewidth.Truncate(text, width, "")
	if head == "" {
		_, size := utf8.DecodeRuneInString(text)
		head = text[:size]
	}
	return head, text[len(head):]
}
