package table

import (
	"strings"
	"unicode"

	"open-cluster-management.io/interlock/pkg/cli/terminal"
)

// Break is a character at which a heading may be broken. Output without a screen does not have it.
const Break = "\u00ad"

// wrap breaks a text into lines of at most width characters. It breaks between words. It breaks longer words after hyphens and other
// punctuation, and before the capital letters of CamelCase.
func wrap(content string, width int) []string {
	if width <= 0 || terminal.Width(content) <= width && !strings.Contains(content, Break) {
		return []string{content}
	}
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(content) {
		if joined := strings.TrimPrefix(line+" "+plain(word), " "); terminal.Width(joined) <= width {
			line = joined
			continue
		}
		parts := []string{plain(word)}
		if terminal.Width(parts[0]) > width {
			parts = pieces(word)
		}
		separator := " "
		for _, part := range parts {
			joined := strings.TrimPrefix(line+separator+part, " ")
			if terminal.Width(joined) > width && line != "" {
				lines, joined = append(lines, line), part
			}
			for line = joined; terminal.Width(line) > width; {
				head, rest := terminal.Split(line, width)
				lines, line = append(lines, head), rest
			}
			separator = ""
		}
	}
	return append(lines, line)
}

// pieces returns the parts of a word that stay together. Dates and versions are not split.
func pieces(word string) []string {
	var pieces []string
	start, last := 0, rune(0)
	for i, r := range word {
		separated := strings.ContainsRune("-/.=:,", last) && unicode.IsLetter(r) || strings.ContainsRune(Break, last)
		if i > start && (separated || unicode.IsUpper(r) && unicode.IsLower(last)) {
			pieces, start = append(pieces, plain(word[start:i])), i
		}
		last = r
	}
	return append(pieces, plain(word[start:]))
}

// wrapAtMost is wrap with a largest number of lines. It cuts the last line.
func wrapAtMost(content string, width, maxLines int) []string {
	lines := wrap(content, width)
	if len(lines) <= maxLines {
		return lines
	}
	last := strings.Join(lines[maxLines-1:], " ")
	return append(lines[:maxLines-1], terminal.Cut(last, width))
}

// narrowest returns the smallest width with which no text has more than the number of lines. longest is the length of the longest
// text.
func narrowest(texts map[string]bool, lines, longest int) int {
	low, high := 1, longest
	for low < high {
		middle := (low + high) / 2
		if fits(texts, middle, lines) {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return low
}

func fits(texts map[string]bool, width, lines int) bool {
	for content := range texts {
		// Breaking a piece in two makes it harder to read.
		if len(wrap(content, width)) > lines || width < longestPiece(content) {
			return false
		}
	}
	return true
}

func longestPiece(content string) int {
	longest := 0
	for word := range strings.FieldsSeq(content) {
		for _, piece := range pieces(word) {
			longest = max(longest, terminal.Width(piece))
		}
	}
	return longest
}
