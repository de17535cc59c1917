package snapshot

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
)

// member is one member of a JSON object. A list is read and written element by element:
// the text of a whole fleet would take more memory than the fleet.
type member struct {
	name  string
	read  func(*json.Decoder) error
	write func(*bufio.Writer) error
	// absent reports whether it is left out.
	absent func() bool
}

func value[T any](name string, of *T) member {
	return member{
		name:   name,
		read:   func(decoder *json.Decoder) error { return decoder.Decode(of) },
		write:  func(to *bufio.Writer) error { return json.NewEncoder(to).Encode(of) },
		absent: func() bool { return false },
	}
}

// optional is a value that is left out where it is empty.
func optional[T any](name string, of *T) member {
	made := value(name, of)
	made.absent = func() bool { return reflect.ValueOf(of).Elem().IsZero() }
	return made
}

// unreduced does not reduce an element of a list.
func unreduced[T any](element *T) *T { return element }

// list is a list whose elements are reduced as they are read.
func list[T any](name string, of *[]T, lean func(*T) *T) member {
	return member{
		name: name,
		read: func(decoder *json.Decoder) error {
			*of = nil
			return elements(decoder, func() error {
				element := new(T)
				if err := decoder.Decode(element); err != nil {
					return err
				}
				*of = append(*of, *lean(element))
				return nil
			})
		},
		write: func(to *bufio.Writer) error {
			_ = to.WriteByte('[') // Flush returns the error
			for i := range *of {
				if i > 0 {
					_ = to.WriteByte(',')
				}
				if err := json.NewEncoder(to).Encode(&(*of)[i]); err != nil {
					return err
				}
			}
			return to.WriteByte(']')
		},
		absent: func() bool { return false },
	}
}

// elements calls a function for each element of a list, which has to decode it.
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

// decodeMembers reads an object. It skips members that it does not know, as those of a
// newer plugin.
func decodeMembers(decoder *json.Decoder, known []member) error {
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
		for _, one := range known {
			if one.name == name {
				read = one.read
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

// cutOff is the error for a text that may have been cut off.
func cutOff(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// encode writes an object.
func encode(to *bufio.Writer, all []member) error {
	separator := "{"
	for _, one := range all {
		if one.absent() {
			continue
		}
		if _, err := fmt.Fprintf(to, "%s%q:", separator, one.name); err != nil {
			return err
		}
		if err := one.write(to); err != nil {
			return err
		}
		separator = ","
	}
	_, err := to.WriteString("}\n")
	return err
}
