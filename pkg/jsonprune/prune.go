// Package jsonprune drops members from the JSON of a watch or a list before anything
// decodes it. Of the objects that an API server sends, a controller reads little, and
// decoding them costs more than all else that it does. What is dropped may also be
// what no Go type can hold.
package jsonprune

import (
	"bytes"
	"slices"

	"open-cluster-management.io/interlock/pkg/rawjson"
)

// Drop is what to drop of an object or an array. Any other value stays as it is.
type Drop struct {
	// Members are what to drop of an object's members; nil: the whole member.
	Members map[string]*Drop
	// Keep, if it is not empty, are texts of compact JSON. Of an array, those elements
	// stay that contain one of them.
	Keep [][]byte
	// Elements is what to drop of each element of an array; nil: nothing.
	Elements *Drop
}

// Prune appends to into what is left of a JSON value. A value that is not compact JSON,
// as API servers write it, is appended whole. So are members whose names are written
// with escapes.
func Prune(into, value []byte, drop *Drop) []byte {
	p := pruner{in: value, out: into}
	if !p.value(drop) {
		return append(into, value...)
	}
	return append(p.out, value[p.kept:]...)
}

// pruner reads in from the front. What lies between kept and at is yet to be
// copied to out.
type pruner struct {
	in, out  []byte
	at, kept int
}

// value reads a value, of which drop may be nil, and reports whether there is one.
func (p *pruner) value(drop *Drop) bool {
	switch {
	case drop != nil && drop.Members != nil && p.next('{'):
		return p.each('}', func() (dropped, ok bool) { return p.member(drop.Members) })
	case drop != nil && drop.Keep != nil && p.next('['):
		return p.each(']', func() (dropped, ok bool) { return p.element(drop.Keep) })
	case drop != nil && drop.Elements != nil && p.next('['):
		return p.each(']', func() (dropped, ok bool) { return false, p.value(drop.Elements) })
	default:
		return p.skip()
	}
}

// each reads members or elements up to the end of their object or array. It leaves out
// those that are dropped.
func (p *pruner) each(end byte, read func() (dropped, ok bool)) bool {
	for more := !p.next(end); more; {
		start := p.at
		dropped, ok := read()
		if !ok {
			return false
		}
		more = p.next(',')
		if dropped {
			p.out, p.kept = append(p.out, p.in[p.kept:start]...), p.at
			if !more {
				p.out = bytes.TrimSuffix(p.out, []byte{','})
			}
		}
		if !more && !p.next(end) {
			return false
		}
	}
	return true
}

func (p *pruner) member(drops map[string]*Drop) (dropped, ok bool) {
	name, ok := p.text()
	if !ok || !p.next(':') {
		return false, false
	}
	drop, known := drops[string(name)]
	return known && drop == nil, p.value(drop)
}

func (p *pruner) element(keep [][]byte) (dropped, ok bool) {
	start := p.at
	ok = p.skip()
	return !slices.ContainsFunc(keep, func(text []byte) bool { return bytes.Contains(p.in[start:p.at], text) }), ok
}

// skip reads a compact value without looking into it.
func (p *pruner) skip() bool {
	start := p.at
	length, compact := rawjson.End(p.in[start:])
	p.at += length
	return compact && length > 0 && p.at < len(p.in)
}

// text reads a string, and returns what is between its quotes.
func (p *pruner) text() (content []byte, ok bool) {
	if !p.next('"') {
		return nil, false
	}
	start := p.at
	p.at += rawjson.Quoted(p.in[start-1:]) - 1
	if p.at == len(p.in) { // nothing follows it
		return nil, false
	}
	return p.in[start : p.at-1], true
}

func (p *pruner) next(wanted byte) bool {
	if p.at < len(p.in) && p.in[p.at] == wanted {
		p.at++
		return true
	}
	return false
}
