package conversion

import (
	"bufio"
	"io"

	"open-cluster-management.io/interlock/pkg/text/rawjson"
)

// parts writes a response in parts. After each part but the last one, it waits until package limits allows
// the next one.
type parts struct {
	writer io.Writer
	last   bool
}

// Write implements io.Writer.
func (p *parts) Write(part []byte) (int, error) {
	count, err := p.writer.Write(part)
	if limited, ok := p.writer.(interface{ Continue() error }); ok && err == nil && !p.last {
		err = limited.Continue()
	}
	return count, err
}

// output is a buffer for converted objects. It keeps its first error until it is flushed.
type output struct{ *bufio.Writer }

func (o output) put(parts ...string) {
	for _, part := range parts {
		_, _ = o.WriteString(part)
	}
}

func (o output) copy(value []byte) { _, _ = o.Write(value) }

// change converts a value to another version, and writes it.
type change func(out output, value []byte)

// member is the conversion of a member of an object.
type member struct {
	// name is the name in the target version. It is nil for a member that the target does not have.
	name []byte
	// change is nil for a value that does not change.
	change change
}

// members has the members that change, by name. All others are copied.
type members map[string]member

// write converts an object, and writes it. It copies other values, although no schema accepts them.
func (m members) write(out output, value []byte) {
	if !rawjson.IsObject(value) {
		out.copy(value)
		return
	}
	result := newObject(out)
	for name, value := range rawjson.Members(value) {
		switch converted, ok := m[string(name)]; {
		case !ok:
			result.member(name, value)
		case converted.name == nil:
		case converted.change == nil:
			result.member(converted.name, value)
		default:
			result.name(converted.name)
			converted.change(out, value)
		}
	}
	result.end()
}

// elements returns a change of each object in a list.
func elements(convert change) change {
	return func(out output, value []byte) {
		if len(value) == 0 || value[0] != '[' {
			out.copy(value)
			return
		}
		separator := "["
		for element := range rawjson.Elements(value) {
			out.put(separator)
			if separator = ","; rawjson.IsObject(element) {
				convert(out, element)
			} else {
				out.copy(element)
			}
		}
		if separator == "[" {
			out.put("[")
		}
		out.put("]")
	}
}

// object writes the members of an object.
type object struct {
	out       output
	separator string
}

func newObject(out output) *object {
	out.put("{")
	return &object{out: out}
}

func (o *object) name(name []byte) {
	o.out.put(o.separator, `"`)
	o.out.copy(name)
	o.out.put(`":`)
	o.separator = ","
}

func (o *object) member(name, value []byte) {
	o.name(name)
	o.out.copy(value)
}

func (o *object) end() { o.out.put("}") }
