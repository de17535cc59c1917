// Package jsonprune drops members from the JSON of a watch before anybody
// decodes it: of the objects that an API server sends, most is of no interest
// to a controller, and to decode it costs more than all else.
package jsonprune

import (
	"bytes"
	"slices"
)

// Member is a member of an object, by its name and the name under which that
// object stands; an object in an array stands under the name of the array.
type Member struct {
	Object, Name string
}

// Elements are objects in an array, by what one of their members says.
type Elements struct {
	// Array is the name under which the array stands.
	Array string
	// Member of the objects that decides, if it is a string: objects without it
	// stay, and anything that is no object.
	Member string
	// Keep are the values of those that stay.
	Keep []string
}

// Drop is what Prune drops.
type Drop struct {
	Members  []Member
	Elements []Elements
}

// maxDepth bounds how deep objects may be nested: what is deeper passes whole.
const maxDepth = 100

// Prune appends to into what is left of a JSON value without what is to drop. A
// value that is not compact JSON, as API servers write it, is appended whole;
// so are members whose names are written with escapes.
func Prune(into, value []byte, drop Drop) []byte {
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
	drop     Drop
	at, kept int
	// unwanted: the element that is being read is to be dropped.
	unwanted bool
}

// value reads the value that stands under a name, and reports whether there is one.
func (p *pruner) value(name []byte, depth int) bool {
	switch {
	case depth > maxDepth:
		return false
	case p.next('{'):
		return p.object(name, depth, nil)
	case p.next('['):
		return p.array(name, depth)
	case p.next('"'):
		return p.text()
	default:
		return p.scalar()
	}
}

// object reads an object, which may be one of the elements that are distinguished.
func (p *pruner) object(name []byte, depth int, of *Elements) bool {
	if p.next('}') {
		return true
	}
	for {
		start := p.at
		if !p.next('"') || !p.text() {
			return false
		}
		key := p.in[start+1 : p.at-1]
		if !p.next(':') {
			return false
		}
		dropped, content, mark := p.drops(name, key), p.at, 0
		if dropped {
			mark = p.mark(start)
		}
		if !p.value(key, depth+1) {
			return false
		}
		if of != nil && string(key) == of.Member {
			p.unwanted = of.drops(p.in[content:p.at])
		}
		more := p.next(',')
		if dropped {
			p.cut(mark, more)
		}
		if !more {
			return p.next('}')
		}
	}
}

// mark returns where out ends with what stands before start.
func (p *pruner) mark(start int) int {
	p.flush(start)
	return len(p.out)
}

// cut leaves out what was read since the mark: a member or an element, and the
// comma after it. Where it was the last one, the comma before it goes instead.
func (p *pruner) cut(mark int, more bool) {
	p.out, p.kept = p.out[:mark], p.at
	if last := len(p.out) - 1; !more && last >= 0 && p.out[last] == ',' {
		p.out = p.out[:last]
	}
}

func (p *pruner) array(name []byte, depth int) bool {
	if p.next(']') {
		return true
	}
	of := p.elements(name)
	for {
		mark := 0
		if of != nil {
			mark = p.mark(p.at)
		}
		unwanted, ok := p.element(name, depth+1, of)
		if !ok {
			return false
		}
		more := p.next(',')
		if unwanted {
			p.cut(mark, more)
		}
		if !more {
			return p.next(']')
		}
	}
}

// element reads an element of an array, and reports whether to drop it.
func (p *pruner) element(name []byte, depth int, of *Elements) (unwanted, ok bool) {
	if of == nil || depth > maxDepth || !p.next('{') {
		return false, p.value(name, depth)
	}
	outer := p.unwanted
	p.unwanted = false
	ok = p.object(name, depth, of)
	unwanted, p.unwanted = p.unwanted, outer
	return unwanted, ok
}

func (p *pruner) elements(array []byte) *Elements {
	for i := range p.drop.Elements {
		if string(array) == p.drop.Elements[i].Array {
			return &p.drop.Elements[i]
		}
	}
	return nil
}

// drops reports whether a value of the member is a string of one to drop. What
// is written with escapes stays.
func (e *Elements) drops(value []byte) bool {
	if len(value) == 0 || value[0] != '"' || bytes.IndexByte(value, '\\') >= 0 {
		return false
	}
	return !slices.Contains(e.Keep, string(value[1:len(value)-1]))
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
	for _, member := range p.drop.Members {
		if string(name) == member.Name && string(object) == member.Object {
			return true
		}
	}
	return false
}
