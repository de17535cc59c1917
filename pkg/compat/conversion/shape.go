package conversion

import (
	"encoding/json"
	"reflect"
	"strings"
)

// shape describes what a version of the API knows of one place of an object: the
// fields of a struct, or the elements of a list. Other values have neither, and
// are converted or copied as a whole.
type shape struct {
	fields  map[string]*shape
	element *shape
}

var marshaler = reflect.TypeFor[json.Marshaler]()

// shapeOf returns the shape of a type of the api module.
func shapeOf(of reflect.Type) *shape {
	for of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	known := &shape{}
	switch {
	case reflect.PointerTo(of).Implements(marshaler): // it defines its own JSON
	case of.Kind() == reflect.Struct:
		known.fields = map[string]*shape{}
		known.addFields(of)
	case of.Kind() == reflect.Slice:
		known.element = shapeOf(of.Elem())
	}
	return known
}

func (s *shape) addFields(of reflect.Type) {
	for i := range of.NumField() {
		field := of.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if field.Anonymous && name == "" {
			s.addFields(field.Type)
			continue
		}
		s.fields[name] = shapeOf(field.Type)
	}
}
