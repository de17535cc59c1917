// Package jsonprune drops members from the JSON of a watch before anybody
// decodes it: of the objects that an API server sends, most is of no interest
// to a controller, and to decode it costs more than all else.
package jsonprune

import "bytes"

// Member is a member of an object, by its name and the name under which that
// object stands; an object in an array stands under the name of the array.
type Member struct {
	Object, Name string
}

// maxDepth bounds how deep objects may be nested: what is deeper passes whole.
const maxDepth = 100

// Prune appends to into what is left of a JSON value without those members. A
// value that is not compact JSON, as API servers write it, is appended whole;
// so are members whose names are written with escapes.
func Prune(into, value []byte, drop []Member) []byte {
	p := pruner{in: value, out: into, drop: drop}
	body := len(bytes.TrimRight(value, "\n"))
	if !p.value(nil, 0) || p.at != body {
		return append(into, value...)
	}
	p.flush(len(value))
	return p.out
}

// pruner reads in from the front. What lies between kept and at is yet to be
// copied to out.
type pruner struct {
	in, out  []byte
	drop     []Member
	at, kept int
}

// value reads the value that stands under a name, and reports whether there is one.
func (p *pruner) value(name []byte, depth int) bool {
	switch {
	case depth > maxDepth:
		return false
	case p.next('{'):
		return p.object(name, depth)
	case p.next('['):
		return p.array(name, depth)
	case p.next('"'):
		return p.text()
	default:
		return p.scalar()
	}
}

func (p *pruner) object(name []byte, depth int) bool {
	if p.next('}') {
		return true
	}
	for {
		start := p.at
		if !p.next('"') || !p.text() {
			return false
		}
		key := p.in[start+1 : p.at-1]
		if !p.next(':') || !p.value(key, depth+1) {
			return false
		}
		more := p.next(',')
		if p.drops(name, key) {
			p.cut(start, more)
		}
		if !more {
			return p.next('}')
		}
	}
}

// cut leaves out what was read since start: a member, and the comma after it.
// Where it was the last one, the comma before it goes instead.
func (p *pruner) cut(start int, more bool) {
	p.flush(start)
	p.kept = p.at
	if last := len(p.out) - 1; !more && last >= 0 && p.out[last] == ',' {
		p.out = p.out[:last]
	}
}

func (p *pruner) array(name []byte, depth int) bool {
	if p.next(']') {
		return true
	}
	for p.value(name, depth+1) {
		if !p.next(',') {
			return p.next(']')
		}
	}
	return false
}

// text reads a string to its end, from behind its first quote.
func (p *pruner) text() bool {
	for {
		length := bytes.IndexByte(p.in[p.at:], '"')
		if length < 0 {
			return false
		}
		p.at += length + 1
		if !p.escaped(p.at - 1) {
			return true
		}
	}
}

// escaped reports whether an odd number of backslashes stands before a byte.
func (p *pruner) escaped(at int) bool {
	first := at
	for first > 0 && p.in[first-1] == '\\' {
		first--
	}
	return (at-first)%2 == 1
}

// scalar reads a number, true, false or null.
func (p *pruner) scalar() bool {
	start := p.at
	for p.at < len(p.in) && (p.in[p.at] >= '0' && p.in[p.at] <= '9' || p.in[p.at] >= 'a' && p.in[p.at] <= 'z' ||
		bytes.IndexByte([]byte("+-.E"), p.in[p.at]) >= 0) {
		p.at++
	}
	return p.at > start
}

func (p *pruner) next(wanted byte) bool {
	if p.at < len(p.in) && p.in[p.at] == wanted {
		p.at++
		return true
	}
	return false
}

func (p *pruner) flush(to int) {
	p.out = append(p.out, p.in[p.kept:to]...)
	p.kept = to
}

func (p *pruner) drops(object, name []byte) bool {
	for _, member := range p.drop {
		if string(name) == member.Name && string(object) == member.Object {
			return true
		}
	}
	return false
}
