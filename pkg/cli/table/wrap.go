package table

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"open-cluster-management.io/interlock/pkg/text"
)

// Break is where a heading may be broken. Output without a screen does not have it.
const Break = "\u00ad"

// wrapped breaks a text into lines of at most so many characters: between words, and words that
// are longer behind hyphens and the like, and where CamelCase has a capital letter.
func wrapped(content string, width int) []string {
	if width <= 0 || utf8.RuneCountInString(content) <= width && !strings.Contains(content, Break) {
		return []string{content}
	}
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(content) {
		if joined := strings.TrimPrefix(line+" "+plain(word), " "); utf8.RuneCountInString(joined) <= width {
			line = joined
			continue
		}
		parts := []string{plain(word)}
		if utf8.RuneCountInString(parts[0]) > width {
			parts = pieces(word)
		}
		separator := " "
		for _, part := range parts {
			joined := strings.TrimPrefix(line+separator+part, " ")
			if utf8.RuneCountInString(joined) > width && line != "" {
				lines, joined = append(lines, line), part
			}
			for line = joined; utf8.RuneCountInString(line) > width; {
				head := string([]rune(line)[:width])
				lines, line = append(lines, head), line[len(head):]
			}
			separator = ""
		}
	}
	return append(lines, line)
}

// pieces are the parts of a word that stay together. A date and a version are one.
func pieces(word string) (all []string) {
	start, before := 0, rune(0)
	for i, r := range word {
		separated := strings.ContainsRune("-/.=:,", before) && unicode.IsLetter(r) || strings.ContainsRune(Break, before)
		if i > start && (separated || unicode.IsUpper(r) && unicode.IsLower(before)) {
			all, start = append(all, plain(word[start:i])), i
		}
		before = r
	}
	return append(all, plain(word[start:]))
}

// shortened are the lines of a cell, at most so many; zero: all.
func shortened(content string, width, most int) []string {
	lines := wrapped(content, width)
	if most == 0 || len(lines) <= most {
		return lines
	}
	last := strings.Join(lines[most-1:], " ")
	return append(lines[:most-1], text.Cut(last, width))
}

// narrowest is how many characters texts need so that none has more than so many lines.
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
		// A piece that is longer is no easier to read in two parts.
		if len(wrapped(content, width)) > lines || width < longestPiece(content) {
			return false
		}
	}
	return true
}

func longestPiece(content string) (longest int) {
	for word := range strings.FieldsSeq(content) {
		for _, piece := range pieces(word) {
			longest = max(longest, utf8.RuneCountInString(piece))
		}
	}
	return longest
}
