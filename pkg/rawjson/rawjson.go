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
			end := quoted(item)
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
	for at := 0; at < len(text); at++ {
		switch text[at] {
		case '"':
			at += quoted(text[at:]) - 1
		case ',', '{', '[':
			count++
		}
	}
	return count
}

// CountElements counts at least the elements of all arrays in a value.
func CountElements(value []byte) int {
	count, arrays := 0, []bool{} // arrays: whether what is open is one
	for at := 0; at < len(value); at++ {
		switch next, depth := value[at], len(arrays); next {
		case '"':
			at += quoted(value[at:]) - 1
		case '{':
			arrays = append(arrays, false)
		case '[':
			arrays = append(arrays, true)
			count++
		case '}', ']':
			arrays = arrays[:max(0, depth-1)]
		case ',':
			if depth > 0 && arrays[depth-1] {
				count++
			}
		}
	}
	return count
}

func items(value []byte, open byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		rest, found := bytes.CutPrefix(bytes.TrimSpace(value), []byte{open})
		for found {
			length := item(rest)
			content := bytes.TrimSpace(rest[:length])
			if len(content) == 0 || !yield(content) {
				return
			}
			rest, found = bytes.CutPrefix(rest[length:], []byte{','})
		}
	}
}

// item returns the length of what is before the next comma or the end of its list.
func item(text []byte) int {
	depth := 0
	for at := 0; at < len(text); at++ {
		switch text[at] {
		case '"':
			at += quoted(text[at:]) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth < 0 {
				return at
			}
		case ',':
			if depth == 0 {
				return at
			}
		}
	}
	return len(text)
}

// quoted returns the length of the string at the start of a text, quotes included.
func quoted(text []byte) int {
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
