package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"open-cluster-management.io/interlock/pkg/text"
)

// Types of values.
const (
	typeObject  = "object"
	typeArray   = "array"
	typeString  = "string"
	typeBoolean = "boolean"
)

// listTypeSet and listTypeMap are the types of lists without duplicates.
const listTypeSet, listTypeMap = "set", "map"

// validate returns the errors of a value. Like an API server, it evaluates the rules of a value
// only after all other checks have passed.
func (s *structural) validate(value any, path *field.Path) field.ErrorList {
	if typeOf(value) != s.Type {
		return field.ErrorList{invalid(path, fmt.Sprintf("must be %s, not %s", kinds[s.Type], excerptOf(value)))}
	}
	var errs field.ErrorList
	switch value := value.(type) {
	case map[string]any:
		errs = s.validateObject(value, path)
	case []any:
		errs = s.validateList(value, path)
	case string:
		errs = s.validateString(value, path)
	}
	if len(errs) > 0 {
		return errs
	}
	for _, rule := range s.Rules {
		if !rule.holds(value) {
			errs = append(errs, rule.refusal(value, path))
		}
	}
	return errs
}

// typeOf returns the type of a value. It is empty for null and for numbers: no field is a number.
func typeOf(value any) string {
	switch value.(type) {
	case map[string]any:
		return typeObject
	case []any:
		return typeArray
	case string:
		return typeString
	case bool:
		return typeBoolean
	default:
		return ""
	}
}

func (s *structural) validateObject(object map[string]any, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, name := range s.Required {
		if _, ok := object[name]; !ok {
			errs = append(errs, field.Required(path.Child(name), s.Properties[name].summary()))
		}
	}
	if len(object) < s.MinProperties {
		errs = append(errs, field.Required(path, "set "+strings.Join(slices.Sorted(maps.Keys(s.Properties)), " or ")))
	}
	if s.MaxProperties != nil && len(object) > *s.MaxProperties {
		return append(errs, field.TooMany(path, len(object), *s.MaxProperties))
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		switch property, ok := s.Properties[name]; {
		case ok:
			errs = append(errs, property.validate(object[name], path.Child(name))...)
		case s.AdditionalProperties != nil:
			errs = append(errs, s.AdditionalProperties.validate(object[name], path.Key(name))...)
		default:
			errs = append(errs, invalid(path, s.explainUnknown(name)))
		}
	}
	return errs
}

// explainUnknown names an unknown field, and the field that its author probably meant.
func (s *structural) explainUnknown(name string) string {
	unknown := fmt.Sprintf("unknown field %q", text.Name(name))
	if name == "true" || name == "false" {
		return unknown + ": YAML reads on, yes, off and no without quotes as true or false"
	}
	for _, property := range slices.Sorted(maps.Keys(s.Properties)) {
		if strings.EqualFold(property, name) {
			return fmt.Sprintf("%s; the field is %q", unknown, property)
		}
	}
	return unknown
}

func (s *structural) validateList(list []any, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	switch count := len(list); {
	case s.MaxItems != nil && count > *s.MaxItems:
		return field.ErrorList{field.TooMany(path, count, *s.MaxItems)} // the items are not validated, to bound the work
	case count < s.MinItems:
		errs = append(errs, field.Invalid(path, count, fmt.Sprintf("must have at least %d items", s.MinItems)))
	}
	for i, item := range list {
		errs = append(errs, s.Items.validate(item, path.Index(i))...)
		if s.ListType != listTypeSet && s.ListType != listTypeMap {
			continue
		}
		if slices.ContainsFunc(list[:i], func(earlier any) bool { return s.isDuplicate(earlier, item) }) {
			errs = append(errs, field.Duplicate(path.Index(i), shown(item)))
		}
	}
	return errs
}

// isDuplicate reports whether a list may not have both items.
func (s *structural) isDuplicate(a, b any) bool {
	if s.ListType == listTypeSet {
		return reflect.DeepEqual(a, b)
	}
	first, _ := a.(map[string]any)
	second, _ := b.(map[string]any)
	return !slices.ContainsFunc(s.ListMapKeys, func(key string) bool { return !reflect.DeepEqual(first[key], second[key]) })
}

func (s *structural) validateString(value string, path *field.Path) field.ErrorList {
	for _, part := range slices.Concat(s.AllOf, []*structural{s}) {
		if len(part.Enum) > 0 && !slices.Contains(part.Enum, value) {
			return field.ErrorList{field.NotSupported(path, text.Excerpt(value), part.Enum)}
		}
	}
	switch length := utf8.RuneCountInString(value); {
	case length < s.MinLength:
		return field.ErrorList{field.Required(path, s.summary())}
	case s.MaxLength != nil && length > *s.MaxLength:
		return field.ErrorList{field.Invalid(path, text.Excerpt(value), fmt.Sprintf("must have at most %d characters", *s.MaxLength))}
	case s.Pattern != nil && !s.Pattern.MatchString(value):
		return field.ErrorList{field.Invalid(path, text.Excerpt(value), s.summary())}
	}
	return nil
}

// kinds has the names of types for authors of YAML.
var kinds = map[string]string{
	typeObject: "an object", typeArray: "a list", typeString: "a string, which may need quotes", typeBoolean: "true or false",
}

// invalid returns the error of a value that the message names.
func invalid(path *field.Path, message string) *field.Error {
	return field.Invalid(path, field.OmitValueType{}, message)
}

// shown returns the form of a value in an error: JSON, or nothing for a long value.
func shown(value any) any {
	if str, isString := value.(string); isString {
		return text.Excerpt(str)
	}
	if short := excerptOf(value); strings.HasSuffix(short, "…") {
		return field.OmitValueType{}
	}
	return value
}

func excerptOf(value any) string {
	encoded, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return text.Excerpt(string(encoded))
}
