package snapshot

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
)

// member is a member of a JSON object. A list is read and written element by element,
// because the text of a whole fleet would take more memory than the fleet.
type member struct {
	name  string
	read  func(*json.Decoder) error
	write func(*bufio.Writer) error
	// absent reports whether the member is left out.
	absent func() bool
}

func value[T any](name string, target *T) member {
	return member{
		name:   name,
		read:   func(decoder *json.Decoder) error { return decoder.Decode(target) },
		write:  func(out *bufio.Writer) error { return json.NewEncoder(out).Encode(target) },
		absent: func() bool { return false },
	}
}

// optional returns a value that is left out if it is empty.
func optional[T any](name string, target *T) member {
	m := value(name, target)
	m.absent = func() bool { return reflect.ValueOf(target).Elem().IsZero() }
	return m
}

// unreduced returns the element of a list unchanged.
func unreduced[T any](element *T) *T { return element }

// list returns a list whose elements are reduced as they are read.
func list[T any](name string, target *[]T, element func(*json.Decoder) (T, error)) member {
	return member{
		name: name,
		read: func(decoder *json.Decoder) error {
			*target = nil
			return elements(decoder, func() error {
				decoded, err := element(decoder)
				if err != nil {
					return err
				}
				*target = append(*target, decoded)
				return nil
			})
		},
		write: func(out *bufio.Writer) error {
			_ = out.WriteByte('[') // Flush returns the error
			for i := range *target {
				if i > 0 {
					_ = out.WriteByte(',')
				}
				if err := json.NewEncoder(out).Encode(&(*target)[i]); err != nil {
					return err
				}
			}
			return out.WriteByte(']')
		},
		absent: func() bool { return false },
	}
}

// pointer decodes an element of a list, and returns a pointer to the parts that are kept.
func pointer[T any](lean func(*T) *T) func(*json.Decoder) (*T, error) {
	return func(decoder *json.Decoder) (*T, error) {
		element := new(T)
		if err := decoder.Decode(element); err != nil {
			return nil, err
		}
		return lean(element), nil
	}
}

// object decodes an element of a list, and returns the parts that are kept.
func object[T any](lean func(*T) *T) func(*json.Decoder) (T, error) {
	decode := pointer(lean)
	return func(decoder *json.Decoder) (T, error) {
		element, err := decode(decoder)
		if err != nil {
			return *new(T), err
		}
		return *element, nil
	}
}

// elements calls a function for each element of a list. The function has to decode the element.
func elements(decoder *json.Decoder, read func() error) error {
	switch begin, err := decoder.Token(); {
	case err != nil:
		return err
	case begin == nil: // null
		return nil
	case begin != json.Delim('['):
		return errors.New("must be a list")
	}
	for decoder.More() {
		if err := read(); err != nil {
			return err
		}
	}
	_, err := decoder.Token()
	return err
}

// decodeMembers reads an object. It skips unknown members, which a newer plugin may have
// written.
func decodeMembers(decoder *json.Decoder, members []member) error {
	begin, err := decoder.Token()
	if err != nil {
		return cutOff(err)
	}
	if begin != json.Delim('{') {
		return errors.New("it is no object")
	}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return cutOff(err)
		}
		read := func(decoder *json.Decoder) error { return decoder.Decode(new(json.RawMessage)) }
		for _, m := range members {
			if m.name == name {
				read = m.read
			}
		}
		if err := read(decoder); err != nil {
			if err := cutOff(err); errors.Is(err, io.ErrUnexpectedEOF) {
				return err
			}
			return fmt.Errorf("%v: %w", name, err)
		}
	}
	_, err = decoder.Token()
	return cutOff(err)
}

// cutOff returns io.ErrUnexpectedEOF if the text ends too early, and any other error unchanged.
func cutOff(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// encode writes an object.
func encode(out *bufio.Writer, members []member) error {
	separator := "{"
	for _, m := range members {
		if m.absent() {
			continue
		}
		if _, err := fmt.Fprintf(out, "%s%q:", separator, m.name); err != nil {
			return err
		}
		if err := m.write(out); err != nil {
			return err
		}
		separator = ","
	}
	_, err := out.WriteString("}\n")
	return err
}
