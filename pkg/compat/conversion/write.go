package conversion

import (
	"bufio"
	"io"

	"open-cluster-management.io/interlock/pkg/rawjson"
)

// parts writes a response in parts. After each but the last it waits until it may make the
// next one (package limits).
type parts struct {
	to   io.Writer
	last bool
}

// Write implements io.Writer.
func (p *parts) Write(part []byte) (int, error) {
	count, err := p.to.Write(part)
	if limited, ok := p.to.(interface{ Continue() error }); ok && err == nil && !p.last {
		err = limited.Continue()
	}
	return count, err
}

// output is where objects are written. It keeps its first error until it is flushed.
type output struct{ *bufio.Writer }

func (o output) put(parts ...string) {
	for _, part := range parts {
		_, _ = o.WriteString(part)
	}
}

func (o output) copy(value []byte) { _, _ = o.Write(value) }

// change writes a value in another version.
type change func(to output, value []byte)

// member says what becomes of a member of an object.
type member struct {
	// name is the one in the other version; nil: there is none.
	name []byte
	// change is nil for a value that stays as it is.
	change change
}

// members are those that change. All others are copied.
type members map[string]member

// write copies what is not an object, and no schema accepts.
func (m members) write(to output, value []byte) {
	if !rawjson.IsObject(value) {
		to.copy(value)
		return
	}
	result := newObject(to)
	for name, value := range rawjson.Members(value) {
		switch known, listed := m[string(name)]; {
		case !listed:
			result.member(name, value)
		case known.name == nil:
		case known.change == nil:
			result.member(known.name, value)
		default:
			result.name(known.name)
			known.change(to, value)
		}
	}
	result.end()
}

// elements changes each object of a list.
func elements(of change) change {
	return func(to output, value []byte) {
		if len(value) == 0 || value[0] != '[' {
			to.copy(value)
			return
		}
		separator := "["
		for element := range rawjson.Elements(value) {
			to.put(separator)
			if separator = ","; rawjson.IsObject(element) {
				of(to, element)
			} else {
				to.copy(element)
			}
		}
		if separator == "[" {
			to.put("[")
		}
		to.put("]")
	}
}

// object is one that is being written.
type object struct {
	to        output
	separator string
}

func newObject(to output) *object {
	to.put("{")
	return &object{to: to}
}

func (o *object) name(name []byte) {
	o.to.put(o.separator, `"`)
	o.to.copy(name)
	o.to.put(`":`)
	o.separator = ","
}

func (o *object) member(name, value []byte) {
	o.name(name)
	o.to.copy(value)
}

func (o *object) end() { o.to.put("}") }
