package declaration

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"open-cluster-management.io/interlock/pkg/text"
)

var unmarshaler = reflect.TypeFor[stdjson.Unmarshaler]()

// mistyped names the first field whose value has another type than the Go type, and the value; nil where each has its type. JSON's
// own error names types of Go, and no index.
func mistyped(raw []byte, kind reflect.Type, path *field.Path) error {
	if kind.Kind() == reflect.Pointer {
		kind = kind.Elem()
	}
	if bytes.Equal(bytes.TrimSpace(raw), []byte("null")) || reflect.PointerTo(kind).Implements(unmarshaler) {
		return nil
	}
	switch kind.Kind() {
	case reflect.Struct:
		var object map[string]stdjson.RawMessage
		if stdjson.Unmarshal(raw, &object) != nil {
			return mistypedValue(raw, kind, path)
		}
		for i := range kind.NumField() {
			name, _, _ := strings.Cut(kind.Field(i).Tag.Get("json"), ",")
			value, has := object[name]
			switch {
			case name == "" && kind.Field(i).Anonymous:
				value = raw
			case !has:
				continue
			default:
			}
			if err := mistyped(value, kind.Field(i).Type, childOf(path, name)); err != nil {
				return err
			}
		}
		return nil
	case reflect.Slice:
		var list []stdjson.RawMessage
		if stdjson.Unmarshal(raw, &list) != nil {
			return mistypedValue(raw, kind, path)
		}
		for i, entry := range list {
			if err := mistyped(entry, kind.Elem(), path.Index(i)); err != nil {
				return err
			}
		}
		return nil
	default:
		return mistypedValue(raw, kind, path)
	}
}

// childOf is the path of a field; that of an embedded one is the path of its parent.
func childOf(path *field.Path, name string) *field.Path {
	switch {
	case name == "":
		return path
	case path == nil:
		return field.NewPath(name)
	}
	return path.Child(name)
}

// mistypedValue is the error of a value that has another type, or nil.
func mistypedValue(raw []byte, kind reflect.Type, path *field.Path) error {
	var wrong *stdjson.UnmarshalTypeError
	if err := stdjson.Unmarshal(raw, reflect.New(kind).Interface()); err == nil || !errors.As(err, &wrong) {
		return nil
	}
	found, _, _ := strings.Cut(wrong.Value, " ") // a number has its value after it
	return fmt.Errorf("%s: must be %s, not %s: %s", path, kindName(kind.Kind()), found, text.Excerpt(text.OneLine(string(raw))))
}

// kindName is what JSON and YAML call a type of Go.
func kindName(kind reflect.Kind) string {
	switch kind {
	case reflect.String:
		return "a string, which may need quotes"
	case reflect.Slice:
		return "a list"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int32, reflect.Int64:
		return "a whole number"
	default:
		return "an object"
	}
}
