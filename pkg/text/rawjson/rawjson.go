// Package rawjson reads JSON in place. It decodes and copies nothing, so reading takes no
// memory, however large the text. The text must be valid JSON. For an invalid text, the
// results are parts of the text, or empty.
package rawjson

import (
	"bytes"
	"iter"
)

// Members returns the members of an object. Names are raw: the text between the quotes,
// with its escapes. Other values have no members.
func Members(object []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(name, value []byte) bool) {
		for item := range items(object, '{') {
			if item[0] != '"' {
				return
			}
			end := Quoted(item)
			value, ok := bytes.CutPrefix(bytes.TrimSpace(item[end:]), []byte{':'})
			if !ok || !yield(item[1:end-1], bytes.TrimSpace(value)) {
				return
			}
		}
	}
}

// Elements returns the elements of an array. Other values have no elements.
func Elements(array []byte) iter.Seq[[]byte] { return items(array, '[') }

// Find returns the value at a path of names, or nil.
func Find(value []byte, path ...string) []byte {
	for _, name := range path {
		value = find(value, name)
	}
	return value
}

// find returns the value of a member of an object, or nil.
func find(object []byte, name string) []byte {
	for memberName, member := range Members(object) {
		if string(memberName) == name {
			return member
		}
	}
	return nil
}

// IsObject reports whether a value is an object.
func IsObject(value []byte) bool { return len(value) > 0 && value[0] == '{' }

// Count returns an upper bound of the number of values within the value of a text. A string
// counts as a single value.
func Count(text []byte) int {
	count := 0
	for _, sign := range signs(text) {
		if sign == ',' || sign == '{' || sign == '[' {
			count++
		}
	}
	return count
}

// CountYAML returns an upper bound of the number of values in a YAML or JSON text. It also
// counts separators in strings. Each line ends with one of the breaks.
func CountYAML(text []byte, breaks ...string) int {
	count := 0
	for _, separator := range append(breaks, ",", "{", "[", "- ", "? ") {
		count += bytes.Count(text, []byte(separator))
	}
	return count
}

// CountElements returns an upper bound of the number of elements of all arrays in a value.
func CountElements(value []byte) int {
	count, open := 0, []byte{} // open has the opening signs of unfinished objects and arrays
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
		rest, ok := bytes.CutPrefix(bytes.TrimSpace(value), []byte{open})
		for ok {
			length, _ := End(rest)
			content := bytes.TrimSpace(rest[:length])
			if len(content) == 0 || !yield(content) {
				return
			}
			rest, ok = bytes.CutPrefix(rest[length:], []byte{','})
		}
	}
}

// End returns the length of the text before the next comma or the end of its list. It also
// returns whether that text is compact: without spaces outside of strings.
func End(text []byte) (int, bool) {
	depth := 0
	compact := true
	for position, sign := range signs(text) {
		switch sign {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case ' ', '\t', '\r', '\n':
			compact = false
		}
		if depth < 0 || depth == 0 && sign == ',' {
			return position, compact
		}
	}
	return len(text), compact
}

// signs returns the signs and spaces outside of strings, with their positions.
func signs(text []byte) iter.Seq2[int, byte] {
	return func(yield func(int, byte) bool) {
		for i := 0; i < len(text); i++ {
			switch text[i] {
			case '"':
				i += Quoted(text[i:]) - 1
			case ',', '{', '}', '[', ']', ' ', '\t', '\r', '\n':
				if !yield(i, text[i]) {
					return
				}
			}
		}
	}
}

// Quoted returns the length of the string at the start of a text, with its quotes. A string
// without an end is as long as the text.
func Quoted(text []byte) int {
	for end := 1; end < len(text); {
		quote := bytes.IndexByte(text[end:], '"')
		if quote < 0 {
			break
		}
		end += quote + 1
		content := text[1 : end-1]
		if escapes := len(content) - len(bytes.TrimRight(content, `\`)); escapes%2 == 0 {
			return end
		}
	}
	return len(text)
}
