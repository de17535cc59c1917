// Package rawjson reads JSON in place. It decodes and copies nothing, so a text takes no
// memory beyond its own, whatever is in it. It expects valid JSON. Of any other text it
// returns some part, or nothing.
package rawjson

import (
	"bytes"
	"iter"
)

// Members returns the members of an object. A name is as it is written between its
// quotes. Any other value has no members.
func Members(object []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(name, value []byte) bool) {
		for item := range items(object, '{') {
			if item[0] != '"' {
				return
			}
			end := Quoted(item)
			value, found := bytes.CutPrefix(bytes.TrimSpace(item[end:]), []byte{':'})
			if !found || !yield(item[1:end-1], bytes.TrimSpace(value)) {
				return
			}
		}
	}
}

// Elements returns the elements of an array. Any other value has none.
func Elements(array []byte) iter.Seq[[]byte] { return items(array, '[') }

// Find returns the value at a path of names, or nil.
func Find(value []byte, path ...string) []byte {
	for _, wanted := range path {
		var found []byte
		for name, member := range Members(value) {
			if string(name) == wanted {
				found = member
				break
			}
		}
		value = found
	}
	return value
}

// IsObject reports whether a value is an object.
func IsObject(value []byte) bool { return len(value) > 0 && value[0] == '{' }

// Count counts at least the values of a text. What is in a string is one value.
func Count(text []byte) int {
	count := 0
	for _, sign := range signs(text) {
		if sign == ',' || sign == '{' || sign == '[' {
			count++
		}
	}
	return count
}

// CountYAML counts at least the values of a YAML or JSON text, those in its strings too.
// Its lines end with one of the breaks.
func CountYAML(text []byte, breaks ...string) int {
	count := 0
	for _, separator := range append(breaks, ",", "{", "[", "- ", "? ") {
		count += bytes.Count(text, []byte(separator))
	}
	return count
}

// CountElements counts at least the elements of all arrays in a value.
func CountElements(value []byte) int {
	count, open := 0, []byte{} // open: the signs of what is open
	for _, sign := range signs(value) {
		switch sign {
		case '{', '[':
			open = append(open, sign)
		case '}', ']':
			open = open[:max(0, len(open)-1)]
		}
		if sign == '[' || sign == ',' && len(open) > 0 && open[len(open)-1] == '[' {
			count++
		}
	}
	return count
}

func items(value []byte, open byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		rest, found := bytes.CutPrefix(bytes.TrimSpace(value), []byte{open})
		for found {
			length, _ := End(rest)
			content := bytes.TrimSpace(rest[:length])
			if len(content) == 0 || !yield(content) {
				return
			}
			rest, found = bytes.CutPrefix(rest[length:], []byte{','})
		}
	}
}

// End returns the length of what is before the next comma or the end of its list, and
// whether it is compact: without a space outside of strings.
func End(text []byte) (length int, compact bool) {
	depth := 0
	compact = true
	for at, sign := range signs(text) {
		switch sign {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case ' ', '\t', '\r', '\n':
			compact = false
		}
		if depth < 0 || depth == 0 && sign == ',' {
			return at, compact
		}
	}
	return len(text), compact
}

// signs returns where the signs and spaces outside of strings are.
func signs(text []byte) iter.Seq2[int, byte] {
	return func(yield func(int, byte) bool) {
		for at := 0; at < len(text); at++ {
			switch text[at] {
			case '"':
				at += Quoted(text[at:]) - 1
			case ',', '{', '}', '[', ']', ' ', '\t', '\r', '\n':
				if !yield(at, text[at]) {
					return
				}
			}
		}
	}
}

// Quoted returns the length of the string at the start of a text, quotes included. A
// string that does not end is the whole text.
func Quoted(text []byte) int {
	for at := 1; at < len(text); {
		next := bytes.IndexByte(text[at:], '"')
		if next < 0 {
			break
		}
		at += next + 1
		content := text[1 : at-1]
		if escapes := len(content) - len(bytes.TrimRight(content, `\`)); escapes%2 == 0 {
			return at
		}
	}
	return len(text)
}
