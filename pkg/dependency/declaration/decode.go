package declaration

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/text"
)

var errCase = errors.New("the names of fields are in lower case")

// yamlTrue is the key that YAML 1.1 makes of an unquoted on, yes or y, and yamlFalse that of off, no or n.
const yamlTrue, yamlFalse = "true", "false"

// decodeStrictly reads JSON as an API server reads fields: no unknown or wrongly cased key.
func decodeStrictly[T any](raw []byte) (T, error) {
	var lax, exact, none T
	decoder := stdjson.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&lax); err != nil {
		return none, err
	}
	// The standard library takes Name for name; the API server does not.
	if err := json.Unmarshal(raw, &exact); err != nil {
		return none, err
	}
	if !reflect.DeepEqual(lax, exact) {
		return none, errCase
	}
	return lax, nil
}

// entryError says which dependency of a list cannot be decoded, and why; nil where each can. JSON's own error names neither
// the entry nor the value.
func entryError(list []byte) error {
	var entries []stdjson.RawMessage
	if stdjson.Unmarshal(list, &entries) != nil {
		return nil //nolint:nilerr // it is no list
	}
	for i, entry := range entries {
		if _, err := decodeStrictly[addonv1alpha1.AddonDependency](entry); err != nil {
			return explainDecoding(entry, field.NewPath("dependencies").Index(i), err)
		}
	}
	return nil
}

// objectError is entryError of the dependencies of an object.
func objectError(object []byte) error {
	var of struct{ Dependencies stdjson.RawMessage }
	if stdjson.Unmarshal(object, &of) != nil || of.Dependencies == nil {
		return nil //nolint:nilerr // it is no object
	}
	return entryError(of.Dependencies)
}

// explainDecoding names the field and the value that cannot be decoded.
func explainDecoding(entry []byte, path *field.Path, err error) error {
	var mistyped *stdjson.UnmarshalTypeError
	var keys map[string]stdjson.RawMessage
	switch {
	case errors.As(err, &mistyped):
		value := text.Excerpt(text.OneLine(string(valueBefore(entry, int(mistyped.Offset)))))
		if mistyped.Field == "" {
			return fmt.Errorf("%s: must be an object, not %s", path, mistyped.Value)
		}
		return fmt.Errorf("%s: must be %s, not %s: %s", path.Child(mistyped.Field), kindName(mistyped.Type.Kind()), mistyped.Value, value)
	case stdjson.Unmarshal(entry, &keys) == nil && (keys[yamlTrue] != nil || keys[yamlFalse] != nil):
		return fmt.Errorf("%s: %w: YAML reads on, yes, off and no without quotes as true or false", path, err)
	default:
		return fmt.Errorf("%s: %w", path, err)
	}
}

// kindName is what JSON and YAML call a type of Go.
func kindName(kind reflect.Kind) string {
	switch kind {
	case reflect.String:
		return "a string, which may need quotes"
	case reflect.Slice:
		return "a list"
	default:
		return "an object"
	}
}

// valueBefore returns the JSON value that ends at an offset; that of an object or a list is cut.
func valueBefore(raw []byte, end int) []byte {
	raw = raw[:min(end, len(raw))]
	if at := bytes.LastIndexAny(raw, ":[,"); at >= 0 {
		return bytes.TrimSpace(raw[at+1:])
	}
	return raw
}
