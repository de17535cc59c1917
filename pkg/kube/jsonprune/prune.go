// Package jsonprune drops members from the JSON of a watch or a list before a client
// decodes it. A controller reads little of each object, and decoding objects costs more
// than all of its other work. The package also drops values that no Go type can hold.
package jsonprune

import (
	"bytes"
	"slices"

	"open-cluster-management.io/interlock/pkg/text/rawjson"
)

// Drop describes the parts to drop from an object or an array. Other values do not change.
type Drop struct {
	// Members has the parts to drop from each member of an object. A nil value drops the whole member.
	Members map[string]*Drop
	// Keep has texts of compact JSON. If it is not empty, an array keeps only the elements
	// that contain one of them.
	Keep [][]byte
	// Elements has the parts to drop from each element of an array. If it is nil, nothing is dropped.
	Elements *Drop
}

// Prune appends a JSON value to target without the parts to drop. API servers write compact
// JSON. A value that is not compact is appended whole, like members whose names
// contain escapes.
func Prune(target, value []byte, drop *Drop) []byte {
	p := pruner{input: value, output: target}
	if !p.value(drop) {
		return append(target, value...)
	}
	return append(p.output, value[p.copied:]...)
}

// pruner reads the input up to position. The input between copied and position is not in the
// output yet.
type pruner struct {
	input, output    []byte
	position, copied int
}

// value reads a value, and reports whether there is one. The drop may be nil.
func (p *pruner) value(drop *Drop) bool {
	switch {
	case drop != nil && drop.Members != nil && p.consume('{'):
		return p.each('}', func() (bool, bool) { return p.member(drop.Members) })
	case drop != nil && drop.Keep != nil && p.consume('['):
		return p.each(']', func() (bool, bool) { return p.element(drop.Keep) })
	case drop != nil && drop.Elements != nil && p.consume('['):
		return p.each(']', func() (bool, bool) { return false, p.value(drop.Elements) })
	default:
		return p.skip()
	}
}

// each reads members or elements up to the end of their object or array, and leaves out
// those to drop. The function reads a member or element. It reports whether to drop it, and
// whether it could be read.
func (p *pruner) each(end byte, read func() (dropped, ok bool)) bool {
	for continues := !p.consume(end); continues; {
		start := p.position
		dropped, ok := read()
		if !ok {
			return false
		}
		continues = p.consume(',')
		if dropped {
			p.output, p.copied = append(p.output, p.input[p.copied:start]...), p.position
			if !continues {
				p.output = bytes.TrimSuffix(p.output, []byte{','})
			}
		}
		if !continues && !p.consume(end) {
			return false
		}
	}
	return true
}

func (p *pruner) member(drops map[string]*Drop) (bool, bool) {
	name, ok := p.text()
	if !ok || !p.consume(':') {
		return false, false
	}
	drop, listed := drops[string(name)]
	return listed && drop == nil, p.value(drop)
}

func (p *pruner) element(keep [][]byte) (bool, bool) {
	start := p.position
	ok := p.skip()
	kept := slices.ContainsFunc(keep, func(text []byte) bool { return bytes.Contains(p.input[start:p.position], text) })
	return !kept, ok
}

// skip reads a compact value without its parts.
func (p *pruner) skip() bool {
	start := p.position
	length, compact := rawjson.End(p.input[start:])
	p.position += length
	return compact && length > 0 && p.position < len(p.input)
}

// text reads a string, and returns its content without the quotes.
func (p *pruner) text() ([]byte, bool) {
	if !p.consume('"') {
		return nil, false
	}
	start := p.position
	p.position += rawjson.Quoted(p.input[start-1:]) - 1
	if p.position == len(p.input) { // the string is cut off
		return nil, false
	}
	return p.input[start : p.position-1], true
}

// consume reads a character if it is the next one.
func (p *pruner) consume(character byte) bool {
	if p.position < len(p.input) && p.input[p.position] == character {
		p.position++
		return true
	}
	return false
}
